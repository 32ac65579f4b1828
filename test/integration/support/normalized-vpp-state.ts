/** State of VPP without the numbers that VPP assigns. */

import { vppState } from '#test/descriptors/compliance/vpp-state.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';
import type { AclDetails, AclInterfaceListDetails } from '#vpp/binapi/messages.gen.ts';

interface VppState {
  readonly interfaces: readonly {
    readonly sw_if_index: number;
    readonly tag: string;
    readonly interface_name: string;
  }[];
  readonly neighbors: readonly (readonly { readonly flags: number }[])[];
  readonly acls: readonly AclDetails[];
  readonly aclBindings: readonly AclInterfaceListDetails[];
}

/** Flag of a static neighbor; others are learned from traffic. */
const STATIC = 1;

/** Equal for two VPPs with the same configuration, whatever their history. */
export async function normalizedVppState(client: BinapiClient): Promise<unknown> {
  const world = (await vppState(client)) as VppState;
  const names = new Map(
    world.interfaces.map(({ sw_if_index, tag, interface_name }) => [
      sw_if_index,
      tag === '' ? interface_name : tag,
    ]),
  );
  const tags = new Map(world.acls.map(({ acl_index, tag }) => [acl_index, tag]));
  const named = (acl: number): string => tags.get(acl) ?? `${acl}`;
  const configured = {
    ...world,
    // texts keep the order, which decides
    acls: world.acls.map(({ tag, r }) => ({
      tag,
      rules: JSON.stringify(r.map((rule) => normalized(rule, names))),
    })),
    aclBindings: world.aclBindings.map(({ sw_if_index, n_input, acls }) => ({
      sw_if_index,
      input: acls.slice(0, n_input).map(named).join(),
      output: acls.slice(n_input).map(named).join(),
    })),
    neighbors: world.neighbors.map((list) => list.filter(({ flags }) => flags & STATIC)),
  };
  return normalized(configured, names);
}

function normalized(value: unknown, names: ReadonlyMap<number, string>): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value === 'bigint') return `${value}`;
  if (Array.isArray(value))
    return value
      .map((item) => normalized(item, names))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // VPP numbers these in the order of creation.
      .filter(([field]) => field !== 'interface_name' && field !== 'stats_index')
      .map(([field, item]) => [
        field,
        field.endsWith('sw_if_index') ? (names.get(item) ?? item) : normalized(item, names),
      ]),
  );
}

/** VPP begins the MAC addresses with this that it draws each time it creates an interface. */
const DRAWN_MAC = /^02fe/;

/** State of a node without the MAC addresses that VPP drew: equal for a VPP that replaced another one. */
export function withoutDrawnMacs(state: unknown): unknown {
  const json = JSON.stringify(state, (key, value) =>
    key === 'l2_address' && DRAWN_MAC.test(value) ? undefined : value,
  );
  return JSON.parse(json);
}
