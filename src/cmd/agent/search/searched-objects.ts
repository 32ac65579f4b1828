/** The objects that are searched, with the texts that are compared: as the agent knows them at the moment. */
import type { FoundOfKind } from '#documents/search.ts';
import type { ClusterNetworkPolicy } from '#kubernetes/models/cluster-network-policy.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import type { Service } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { EventRecord } from '#plugins/controller/event-record.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';

export interface SearchedObjectsDeps {
  readonly label: string;
  readonly kubeState: () => KubeState;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  /** Whether an address is that of a pod of this node. */
  readonly isOwnAddress: (address: string) => boolean;
  readonly events: () => readonly EventRecord[];
}

/** In place of a cluster IP. */
const HEADLESS = 'None';

interface SearchedKind {
  readonly kind: FoundOfKind['kind'];
  readonly objects: Iterable<FoundOfKind['found'][number]>;
}

export function searchedObjects(deps: SearchedObjectsDeps): readonly SearchedKind[] {
  return [
    { kind: 'pods', objects: pods(deps) },
    { kind: 'services', objects: services(deps) },
    { kind: 'policies', objects: policies(deps) },
    { kind: 'nodes', objects: nodes(deps) },
    { kind: 'events', objects: events(deps) },
  ];
}

function* pods({ label, kubeState, nodes, isOwnAddress }: SearchedObjectsDeps) {
  const hosts = new Map<string, string>();
  for (const { name, managementAddresses } of nodes.allNodes().values())
    for (const address of managementAddresses) hosts.set(address, name);
  for (const pod of records<Pod>(kubeState(), resources.pod.keyword)) {
    const { namespace, name, ip_address, ip_addresses, host_ip_address } = pod;
    const addresses = new Set([ip_address, ...ip_addresses].filter((one) => one !== ''));
    const isOwn = [...addresses].some(isOwnAddress);
    const node = isOwn ? label : (hosts.get(host_ip_address) ?? '');
    yield { name: `${namespace}/${name}`, details: [...addresses].join(', '), node };
  }
}

function* services({ kubeState }: SearchedObjectsDeps) {
  for (const service of records<Service>(kubeState(), resources.service.keyword)) {
    const { namespace, name, cluster_ip, external_ips, lb_ingress_ips } = service;
    const all = [cluster_ip, ...external_ips, ...lb_ingress_ips];
    const addresses = all.filter((one) => one !== '' && one !== HEADLESS);
    yield { name: `${namespace}/${name}`, details: addresses.join(', '), node: '' };
  }
}

function* policies({ kubeState }: SearchedObjectsDeps) {
  const { policy, clusternetworkpolicy } = resources;
  for (const { name } of records<ClusterNetworkPolicy>(kubeState(), clusternetworkpolicy.keyword))
    yield { name, details: 'ClusterNetworkPolicy', node: '' };
  for (const { namespace, name } of records<Policy>(kubeState(), policy.keyword))
    yield { name: `${namespace}/${name}`, details: 'NetworkPolicy', node: '' };
}

function* nodes({ nodes: all }: SearchedObjectsDeps) {
  for (const { name, id, vppAddresses, managementAddresses } of all.allNodes().values()) {
    const details = [`ID ${id}`, ...vppAddresses, ...managementAddresses].join(', ');
    yield { name, details, node: '' };
  }
}

/** The newest first. */
function* events({ events: all }: SearchedObjectsDeps) {
  for (const { seqNum, name } of all().toReversed())
    yield { name: String(seqNum), details: name, node: '' };
}

function records<T>(state: KubeState, keyword: string): Iterable<T> {
  return (state.get(keyword)?.values() ?? []) as Iterable<T>;
}
