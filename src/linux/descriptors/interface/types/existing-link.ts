import { linuxHostNameKey } from '#models/linux/derived.ts';
import { linkLocation } from '../link-location.ts';
import type { LinkTypeHandler } from './handler.ts';

/**
 * A link that somebody else has made and that stays when its value goes. Of its settings only those
 * that are asked for are ours; it bears no mark.
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
    async create(value, _ctx, _undo, settle) {
      const { namespace, name } = linkLocation(value);
      const metadata = { namespace, hostIfName: name };
      await settle(metadata);
      return metadata;
    },
    delete: async () => undefined,
  };
}
