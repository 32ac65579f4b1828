import { linuxHostNameKey } from '#models/linux/derived.ts';
import { linkLocation } from '../link-location.ts';
import type { LinkTypeHandler } from './handler.ts';

/**
 * A link that the agent did not create and does not delete. Only the settings that its value contains
 * are managed; the link is not marked.
 */
export function existingLink(type: 'LOOPBACK' | 'EXISTING'): LinkTypeHandler {
  return {
    type,
    isShared: true,
    validate: () => undefined,
    dependencies(value) {
      const { namespace, name } = linkLocation(value);
      if (type === 'LOOPBACK' || namespace !== undefined) return [];
      return [{ label: 'link-exists', key: linuxHostNameKey.build({ host: name }) }];
    },
    async create(value, _ctx, _undo, applySettings) {
      const { namespace, name } = linkLocation(value);
      const metadata = { namespace, hostIfName: name };
      await applySettings(metadata);
      return metadata;
    },
    delete: async () => undefined,
  };
}
