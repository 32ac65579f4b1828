/**
 * Mappings and identities that are bound to an interface which was deleted past the agent. VPP keeps them,
 * and refuses the same one for the next interface that gets the index.
 */
import type { VppClient } from '../../binapi/api.ts';
import type {
  Nat44IdentityMappingDetails,
  Nat44StaticMappingDetails,
} from '../../binapi/messages.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import { missingInterfaces } from '../missing-interfaces.ts';

/**
 * @param names logical names by sw_if_index
 * @param isManaged whether the mapping with this tag is managed
 */
export async function removeDanglingMappings(
  client: VppClient,
  statics: readonly Nat44StaticMappingDetails[],
  identities: readonly Nat44IdentityMappingDetails[],
  names: ReadonlyMap<number, string>,
  isManaged: (tag: string) => boolean,
): Promise<void> {
  const isSuspect = (tag: string, index: number): boolean =>
    index !== NONE && !names.has(index) && isManaged(tag);
  const suspects = statics.filter((one) => isSuspect(one.tag, one.external_sw_if_index));
  const suspectIdentities = identities.filter((one) => isSuspect(one.tag, one.sw_if_index));
  const missing = await missingInterfaces(
    client,
    new Set([
      ...suspects.map((one) => one.external_sw_if_index),
      ...suspectIdentities.map((one) => one.sw_if_index),
    ]),
  );
  await Promise.all(
    [
      ...suspects
        .filter((one) => missing.has(one.external_sw_if_index))
        .map((one) =>
          client.request('nat44_add_del_static_mapping_v2', {
            ...one,
            is_add: false,
            match_pool: false,
            pool_ip_address: new Uint8Array(4),
          }),
        ),
      ...suspectIdentities
        .filter((one) => missing.has(one.sw_if_index))
        .map((one) => client.request('nat44_add_del_identity_mapping', { ...one, is_add: false })),
    ].map(ignoreNotFound),
  );
}
