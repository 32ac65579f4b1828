/** The ends of a trace as operators name them: a pod, a service or an address. */
import { isIP } from 'node:net';
import type { Pod } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { Protocol } from '#packet-trace/packet.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { Node, NodeSyncApi } from '#plugins/nodesync/api.ts';
import { podIdText } from '#plugins/podmanager/api.ts';
import type { ServiceApi } from '#plugins/service/api.ts';

export interface TraceEndsDeps {
  readonly ipam: Pick<IpamApi, 'allocations'>;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  readonly services: Pick<ServiceApi, 'describeService'>;
  /** The records of pods of all nodes, by key. Current at any time. */
  readonly pods: () => ReadonlyMap<string, object> | undefined;
}

export interface TraceEnd {
  /** As it was asked. */
  readonly name: string;
  readonly kind: 'pod' | 'service' | 'address';
  readonly address: string;
  /** Of a service. */
  readonly ports: readonly ServicePort[];
}

export interface ServicePort {
  readonly protocol: Protocol;
  readonly port: number;
}

/** @returns undefined: no pod with an address, and no service with an address in the cluster, has the name */
export function traceEnd(deps: TraceEndsDeps, name: string): TraceEnd | undefined {
  if (isIP(name) !== 0) return { name, kind: 'address', address: name, ports: [] };
  const address = podAddress(deps, name);
  if (address !== undefined) return { name, kind: 'pod', address, ports: [] };
  const service = deps.services.describeService(name);
  const carried = service?.addresses.filter(({ whyNotRendered }) => whyNotRendered === undefined);
  const [first] = carried?.filter(({ kind }) => kind === 'cluster-ip') ?? [];
  if (carried === undefined || first === undefined) return undefined;
  const ports = carried
    .filter((one) => one.address === first.address)
    .flatMap(({ protocol, port }) =>
      protocol === 'TCP' || protocol === 'UDP' ? [{ protocol, port } as const] : [],
    );
  return { name, kind: 'service', address: first.address, ports };
}

function podAddress({ ipam, pods }: TraceEndsDeps, name: string): string | undefined {
  for (const [address, { pod, attachment }] of ipam.allocations())
    if (attachment !== undefined && podIdText(pod) === name) return address;
  const [namespace = '', pod = ''] = name.split('/');
  const record = pods()?.get(resources.pod.key(pod, namespace)) as Pod | undefined;
  return record?.ip_address || undefined;
}

/** The node to which a packet has left: by its outer destination, or by the pod that has the inner one. */
export function nodeOfAddress(
  { nodes, pods }: TraceEndsDeps,
  address: string,
): { readonly node: Node; readonly address: string } | undefined {
  const all = [...nodes.allNodes().values()];
  const byNode = all.find((one) => addressesOf(one).includes(address));
  if (byNode) return { node: byNode, address };
  for (const record of (pods()?.values() ?? []) as Iterable<Pod>) {
    if (record.ip_address !== address) continue;
    const host = record.host_ip_address;
    const node = all.find((one) => addressesOf(one).includes(host));
    return node && { node, address: host };
  }
  return undefined;
}

function addressesOf({ vppAddresses, managementAddresses }: Node): string[] {
  return [...vppAddresses.map((cidr) => cidr.split('/')[0] ?? ''), ...managementAddresses];
}
