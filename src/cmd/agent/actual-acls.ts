/** Reads the ACLs on the interfaces of VPP for packet traces, managed or not. */
import { aclKey, aclModel } from '#models/vpp/acl.ts';
import type { Acl, AclBinding, AclConfig } from '#packet-trace/acl-config.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { readLists } from '#vpp/descriptors/acl/bindings.ts';
import { fromRule } from '#vpp/descriptors/acl/rule.ts';

const NONE = 0xffff_ffff;

/**
 * @param names of ACLs that are configured
 * @returns undefined if no interface has an ACL
 */
export async function readAcls(
  client: VppClient,
  names: ReadonlySet<string>,
  nameOf: (swIfIndex: number) => string,
): Promise<AclConfig | undefined> {
  if (!client.has('acl_dump')) return undefined;
  const lists = await readLists(client, undefined);
  const bound = [...lists].filter(([, { ingress, egress }]) => ingress.length + egress.length > 0);
  if (bound.length === 0) return undefined;
  const found = await client.dump('acl_dump', { acl_index: NONE });
  // several unmanaged ACLs may have the same tag
  const byIndex = new Map<number, Acl>();
  const taken = new Set<string>();
  for (const { acl_index, tag, r } of found) {
    const name = tag === '' || taken.has(tag) ? `${tag} (index ${acl_index})`.trim() : tag;
    taken.add(tag);
    const { rules } = aclModel.canonical({ name, rules: r.map(fromRule) });
    byIndex.set(acl_index, { key: names.has(name) ? aclKey.build({ name }) : '', name, rules });
  }
  const nameOfAcl = (index: number): string => byIndex.get(index)?.name ?? `index ${index}`;
  return {
    acls: [...byIndex.values()],
    bindings: bound.map(
      ([index, { ingress, egress }]): AclBinding => ({
        interface: nameOf(index),
        input: ingress.map(nameOfAcl),
        output: egress.map(nameOfAcl),
      }),
    ),
  };
}
