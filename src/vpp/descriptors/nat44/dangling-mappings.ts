/**
 * Mappings and identities that are bound to an interface which was deleted past the agent. VPP keeps them,
 * and refuses the same one for the next interface that gets the index.
 */
import type { Leftover } from '#kvscheduler/api/descriptor.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import type { VppClient } from '../../binapi/api.ts';
import type {
  Nat44IdentityMappingDetails,
  Nat44StaticMappingDetails,
} from '../../binapi/messages.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import { missingInterfaces } from '../missing-interfaces.ts';
import { protocolName } from './mapping.ts';

/**
 * @param names logical names by sw_if_index
 * @param isManaged whether the mapping with this tag is managed
 */
export async function danglingMappings(
  client: VppClient,
  statics: readonly Nat44StaticMappingDetails[],
  identities: readonly Nat44IdentityMappingDetails[],
  names: ReadonlyMap<number, string>,
  isManaged: (tag: string) => boolean,
): Promise<readonly Leftover[]> {
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
  const leftover = (
    end: string,
    tag: string,
    index: number,
    remove: () => Promise<unknown>,
  ): Leftover => ({
    name: end,
    what: `the mapping with the tag ${tag} is bound to the deleted interface ${index}`,
    precedes: [dnat44Model.keyPrefix, vppInterfaceModel.keyPrefix],
    async remove() {
      const isStillMissing = (await missingInterfaces(client, new Set([index]))).has(index);
      if (isStillMissing) await ignoreNotFound(remove());
    },
  });
  return [
    ...suspects
      .filter((one) => missing.has(one.external_sw_if_index))
      .map((one) => {
        const { tag, external_sw_if_index: index, external_port: port } = one;
        const end = `mapping/${index}/${port}/${protocolName(one.protocol)}/${tag}`;
        return leftover(end, tag, index, () =>
          client.request('nat44_add_del_static_mapping_v2', {
            ...one,
            is_add: false,
            match_pool: false,
            pool_ip_address: new Uint8Array(4),
          }),
        );
      }),
    ...suspectIdentities
      .filter((one) => missing.has(one.sw_if_index))
      .map((one) => {
        const { tag, sw_if_index: index, port, vrf_id } = one;
        const end = `identity/${index}/${port}/${protocolName(one.protocol)}/${vrf_id}`;
        return leftover(end, tag, index, () =>
          client.request('nat44_add_del_identity_mapping', { ...one, is_add: false }),
        );
      }),
  ];
}
