import type { VppClient } from '#vpp/binapi/api.ts';
import { vppState } from './vpp-state.ts';

/**
 * Everything of VPP with names in place of the numbers that it gave, and in an order of its own:
 * equal for two VPPs that were configured alike, whatever came first.
 */
export async function normalizedVppState(client: VppClient): Promise<unknown> {
  const all = 0xffff_ffff;
  const [world, interfaces, domains, acls] = await Promise.all([
    vppState(client),
    client.dump('sw_interface_dump', {
      sw_if_index: all,
      name_filter_valid: false,
      name_filter: '',
    }),
    client.dump('bridge_domain_dump', { bd_id: all, sw_if_index: all }),
    client.dump('acl_dump', { acl_index: all }),
  ]);
  const names = {
    interface: new Map(interfaces.map((each) => [each.sw_if_index, each.tag])),
    domain: new Map(domains.map((each) => [each.bd_id, each.bd_tag])),
    acl: new Map(acls.map((each) => [each.acl_index, each.tag])),
  };
  const named = (field: string, value: unknown): unknown => {
    if (field.endsWith('sw_if_index')) return names.interface.get(value as number) ?? value;
    if (field === 'peer_index' || field === 'user_instance') return 0;
    if (field === 'bd_id') return names.domain.get(value as number) ?? value;
    if (field === 'acl_index') return names.acl.get(value as number) ?? value;
    if (field === 'acls' && Array.isArray(value))
      return value.map((each) => (typeof each === 'number' ? names.acl.get(each) : each));
    return field === 'interface_name' ? '' : value;
  };
  const plain = JSON.stringify(world, (field, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    return named(field, value);
  });
  return JSON.parse(plain, (_field, value: unknown) =>
    Array.isArray(value) ? sorted(value) : value,
  );
}

function sorted(values: readonly unknown[]): unknown[] {
  return values
    .map((value) => [JSON.stringify(value), value] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, value]) => value);
}
