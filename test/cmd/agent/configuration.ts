import { isDeepStrictEqual } from 'node:util';
import type { NamespacePath } from '#linux/api.ts';
import { makeNode, type Node } from './harness.ts';

/** One namespace as readable text lines, without the objects that the kernel creates by itself. */
async function linux(node: Node, namespace: NamespacePath): Promise<string[]> {
  const { links, routes, neighbors } = await node.linux.dump(namespace);
  const lines: string[] = [];
  for (const link of links) {
    const { name, kind, up, mtu, alias, addresses } = link;
    // The host's own ends keep the address that the kernel drew for them.
    const mac = namespace === undefined ? 'any' : (link.mac ?? '-');
    lines.push(
      `link ${name} ${kind} ${up ? 'up' : 'down'} mtu ${mtu} mac ${mac} alias ${alias ?? '-'}`,
      ...addresses.map((address) => `address ${address} dev ${name}`),
    );
  }
  for (const { destination, gateway, device, scope, protocol } of routes)
    if (protocol !== 2)
      lines.push(`route ${destination} via ${gateway ?? '-'} dev ${device} scope ${scope}`);
  for (const { address, mac, device, permanent } of neighbors)
    if (permanent) lines.push(`neighbor ${address} is ${mac} dev ${device}`);
  return lines.sort();
}

/** The state of VPP without the defaults of an unconfigured VPP, for reading. */
function configured({ vpp }: Node): Readonly<Record<string, unknown>> {
  const fresh = makeNode().vpp.snapshot() ?? {};
  return Object.fromEntries(
    Object.entries(vpp.snapshot() ?? {}).filter(
      ([name, part]) => !isDeepStrictEqual(part, fresh[name]),
    ),
  );
}

/** The configuration of a node: VPP, Linux by namespace, and the stored state of the agent. */
export async function configuration(node: Node, namespaces: readonly string[] = []) {
  const { entries } = await node.local.list('local/');
  const host: Record<string, string[]> = { host: await linux(node, undefined) };
  for (const namespace of namespaces) host[namespace] = await linux(node, namespace);
  return {
    vpp: configured(node),
    linux: host,
    remembered: entries.map(({ key }) => key).filter((key) => !isTransient(key)),
  };
}

/**
 * The position of the search for a free address is not configuration. Deleted attachments are remembered
 * until VPP is read the next time.
 */
function isTransient(key: string): boolean {
  return key.startsWith('local/ipam/last') || key.startsWith('local/podmanager/deleted/');
}
