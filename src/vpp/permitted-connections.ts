/** Connections that ACLs permit by rules of their own, read from VPP. */
import type { PermittedConnections } from '#plugins/controller/api/ports/vpp.ts';
import { fromAddress } from './binapi/addresses.ts';
import type { VppClient } from './binapi/api.ts';
import { AclAction } from './binapi/enums.gen.ts';
import type { AclDetails, AclRule } from './binapi/messages.gen.ts';
import { readLists } from './descriptors/acl/bindings.ts';

export async function readPermittedConnections(
  client: VppClient,
  prefix: string,
): Promise<readonly PermittedConnections[]> {
  if (!client.has('acl_dump')) return [];
  const lists = await readLists(client, undefined);
  const read = new Map<number, Promise<AclDetails | undefined>>();
  const acl = (acl_index: number) => {
    const found =
      read.get(acl_index) ?? client.dump('acl_dump', { acl_index }).then(([one]) => one);
    read.set(acl_index, found);
    return found;
  };
  const first = async ({ egress }: { readonly egress: readonly number[] }) => {
    for (const index of egress) {
      const details = await acl(index);
      if (details?.tag.startsWith(prefix)) return details;
    }
    return undefined;
  };
  const found = await Promise.all([...lists.values()].map(first));
  return [...new Set(found)].flatMap((details) =>
    details ? [{ acl: details.tag, connections: details.r.flatMap(connectionOf) }] : [],
  );
}

function connectionOf(rule: AclRule): PermittedConnections['connections'][number][] {
  if (rule.is_permit !== AclAction.ACL_ACTION_API_PERMIT_REFLECT) return [];
  const { src_prefix, dst_prefix } = rule;
  return [
    {
      source: { address: fromAddress(src_prefix.address), port: rule.srcport_or_icmptype_first },
      destination: {
        address: fromAddress(dst_prefix.address),
        port: rule.dstport_or_icmpcode_first,
      },
    },
  ];
}
