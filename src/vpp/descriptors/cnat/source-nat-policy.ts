/** The policy of cnat's source NAT in table 0, and the node that applies it to what enters by an interface. */
import type { CnatSourceNat } from '#models/vpp/cnat-source-nat.ts';
import { bytesOfAddress, textOfBytes } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { CnatSnatPolicyFlags } from '../../binapi/enums.gen.ts';
import { ignoreRetvals } from '../ignored-retvals.ts';
import { type ArcFeature, isFeatureEnabled } from '../interface/feature-state.ts';
import { NONE } from '../limits.ts';

const ANY = '::';
/** Of a policy that no packet meets: its table does not exist (`session-counters.ts`). */
export const UNUSED_ADDRESS = '::1';
const FEATURE_DISABLED = -30;

/** It translates packets of sessions, and of their replies, if these enter by the interface. */
const TRANSLATION: ArcFeature = {
  arc: 'ip6-unicast',
  node: 'cnat-snat-ip6-return',
  end: 'ip6-lookup',
};

/**
 * VPP drops packets to the address that belong to no session, but not with `NO_CLIENT`.
 *
 * @param index of the table in VPP
 * @param address undefined: there is none
 */
export async function setPolicy(
  client: VppClient,
  index: number,
  address: string | undefined,
): Promise<void> {
  const request = client.request('cnat_set_snat_addresses_v2', {
    fwd_fib_index: index,
    ret_fib_index: 0,
    snat_ip4: new Uint8Array(4),
    snat_ip6: bytesOfAddress(address ?? ANY),
    sw_if_index: NONE,
    flags: CnatSnatPolicyFlags.CNAT_SNAT_POLICY_F_NO_CLIENT,
  });
  await (address === undefined ? ignoreRetvals(request, [FEATURE_DISABLED]) : request);
}

/** VPP counts how often a node was enabled. */
export function setTranslating(
  client: VppClient,
  sw_if_index: number,
  enable: boolean,
): Promise<unknown> {
  const { arc: arc_name, node: feature_name } = TRANSLATION;
  return client.request('feature_enable_disable', { sw_if_index, enable, arc_name, feature_name });
}

export function translates(client: VppClient, sw_if_index: number): Promise<boolean> {
  return isFeatureEnabled(client, sw_if_index, TRANSLATION);
}

/**
 * @param names of the interfaces by index
 * @returns undefined: there is no policy; without an interface, if none translates
 */
export async function readSourceNat(
  client: VppClient,
  names: ReadonlyMap<number, string>,
): Promise<CnatSourceNat | undefined> {
  const address = await readAddress(client);
  if (address === undefined) return undefined;
  const found = await Promise.all(
    [...names].map(async ([index, name]) => ((await translates(client, index)) ? [name] : [])),
  );
  return { interface: found.flat()[0] ?? '', address };
}

/** That of table 0, which VPP also reports for a policy of a table that does not exist. */
async function readAddress(client: VppClient): Promise<string | undefined> {
  if (!client.has('cnat_set_snat_addresses_v2')) return undefined;
  const policies = await client.dump('cnat_snat_addresses_dump', {});
  return policies
    .filter(({ fwd_table_id6 }) => fwd_table_id6 === 0)
    .map(({ snat_ip6 }) => textOfBytes(snat_ip6))
    .find((address) => address !== ANY && address !== UNUSED_ADDRESS);
}
