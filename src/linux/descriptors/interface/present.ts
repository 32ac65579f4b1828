import { linuxHostNameKey } from '#models/linux/derived.ts';
import type { LinkKind } from './kind.ts';
import { placeOf } from './place.ts';

/**
 * A link that somebody else has made and that stays when its value goes. Of its settings only those
 * that are asked for are ours; it bears no mark.
 */
export function presentLink(type: 'LOOPBACK' | 'EXISTING'): LinkKind {
  return {
    type,
    shared: true,
    validate: () => undefined,
    dependencies(value) {
      const { namespace, name } = placeOf(value);
      if (type === 'LOOPBACK' || namespace !== undefined) return [];
      return [{ label: 'link-exists', key: linuxHostNameKey.build({ host: name }) }];
    },
    async create(value, _ctx, _undo, settle) {
      const { namespace, name } = placeOf(value);
      const metadata = { namespace, hostIfName: name };
      await settle(metadata);
      return metadata;
    },
    delete: async () => undefined,
  };
}
