import type { Flow, FlowEnd } from '#documents/flows.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Service } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { formatIp, parseIp } from '#models/ip.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { EventMethod } from '#plugins/controller/api/event.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange, type KubeStateChangePayload } from '#plugins/controller/api/events.ts';
import type { Allocation, IpamApi } from '#plugins/ipam/api.ts';
import { type NodeSyncApi, NodeUpdate } from '#plugins/nodesync/api.ts';
import { workloadOf } from './workload.ts';

/** A port of a server. */
export interface PeerPort {
  readonly protocol: Flow['protocol'];
  readonly port: number;
}

/** The owner of an address, without its port. */
export type Peer = Pick<FlowEnd, 'kind' | 'name' | 'workload'>;

export interface PeersDeps {
  /** Name of this node. */
  readonly label: string;
  /** Current at any time. */
  readonly kubeState: () => KubeState;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  readonly ipam: Pick<IpamApi, 'allocations'>;
  /** Returns, for the addresses of now, the ID of the node whose host has an address on its link to VPP. */
  readonly hostLinkOwner: () => (address: string) => number | undefined;
  readonly shortenOutsideAddresses: boolean;
}

const OUTSIDE: Peer = { kind: 'outside', name: '', workload: '' };

/**
 * Pods, nodes and services of the cluster by address. Pods and services change one by one; after a resync, all are read again
 * when the next address is asked for.
 */
export class Peers {
  readonly #deps: PeersDeps;
  readonly #pods = new Map<string, Peer>();
  readonly #nodes = new Map<string, Peer>();
  readonly #nodesById = new Map<number, Peer>();
  #hostLinkOwner: (address: string) => number | undefined = () => undefined;
  /** By `servicePlace`. */
  readonly #services = new Map<string, Peer>();
  /** Between two events; they are many, and few connections are between pods alone. */
  #allocations: ReadonlyMap<string, Allocation> | undefined;
  #isKnown = false;
  #areStale = true;
  #areNodesStale = true;

  constructor(deps: PeersDeps) {
    this.#deps = deps;
  }

  /** Whether the state of Kubernetes was read: before, each address is outside. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** After each event of the loop. */
  observe(event: Event): void {
    this.#allocations = undefined;
    if (event.kind.method(event.payload) === EventMethod.FullResync) this.#isKnown = true;
    if (KubeStateChange.is(event)) this.#change(event.payload);
    else if (NodeUpdate.is(event)) this.#areNodesStale = true;
    else if (event.kind.method(event.payload) !== EventMethod.Update) this.#areStale = true;
  }

  /** An end of a connection. @param port of a server; undefined: of a client */
  find(address: string, port: PeerPort | undefined): Peer {
    this.#refresh();
    return (
      this.#attachedPod(address) ??
      this.#pods.get(address) ??
      this.#nodes.get(address) ??
      (port === undefined ? undefined : this.#services.get(servicePlace(address, port))) ??
      this.#nodesById.get(this.#hostLinkOwner(address) ?? 0) ??
      OUTSIDE
    );
  }

  /** `<namespace>/<name>` of the service that a client has asked; empty: there is none any more. */
  serviceAt(address: string, port: PeerPort): string {
    this.#refresh();
    const found =
      this.#services.get(servicePlace(address, port)) ??
      (this.#nodes.has(address) ? this.#services.get(servicePlace('', port)) : undefined);
    return found?.name ?? '';
  }

  /** Whether a socket of this node may have the address. */
  isOfThisNode(address: string): boolean {
    const { kind, name } = this.find(address, undefined);
    return kind === 'node' ? name === this.#deps.label : this.#attachedPod(address) !== undefined;
  }

  /** This node. */
  get host(): Peer {
    const { label } = this.#deps;
    return { kind: 'node', name: label, workload: label };
  }

  end(address: string, port: number, peer: Peer, isServer: boolean): FlowEnd {
    if (peer.kind !== 'outside' || !this.#deps.shortenOutsideAddresses)
      return { address, port, ...peer };
    return { address: shortened(address), ...(isServer && { port }), ...peer };
  }

  #refresh(): void {
    if (this.#areStale) {
      this.#areStale = false;
      this.#areNodesStale = true;
      this.#pods.clear();
      this.#services.clear();
      const kube = this.#deps.kubeState();
      for (const pod of kube.get(resources.pod.keyword)?.values() ?? []) this.#addPod(pod as Pod);
      for (const service of kube.get(resources.service.keyword)?.values() ?? [])
        this.#addService(service as Service);
    }
    if (!this.#areNodesStale) return;
    this.#areNodesStale = false;
    this.#nodes.clear();
    this.#nodesById.clear();
    this.#hostLinkOwner = this.#deps.hostLinkOwner();
    for (const { id, name, vppAddresses, managementAddresses } of this.#deps.nodes
      .allNodes()
      .values()) {
      const peer = { kind: 'node', name, workload: name } as const;
      this.#nodesById.set(id, peer);
      for (const address of [...managementAddresses, ...vppAddresses])
        this.#nodes.set(address.replace(/\/.*/, ''), peer);
    }
  }

  #change({ resource, previous, current }: KubeStateChangePayload): void {
    if (this.#areStale) return;
    if (resource === resources.pod.keyword) {
      if (previous) this.#deletePod(previous as Pod);
      if (current) this.#addPod(current as Pod);
    } else if (resource === resources.service.keyword) {
      for (const place of placesOf(previous as Service | undefined)) this.#services.delete(place);
      if (current) this.#addService(current as Service);
    } else if (resource === resources.node.keyword || resource === resources.vppnode.keyword)
      this.#areNodesStale = true;
  }

  #addPod(pod: Pod): void {
    const name = `${pod.namespace}/${pod.name}`;
    const peer: Peer = { kind: 'pod', name, workload: workloadOf(pod) };
    for (const address of addressesOf(pod)) this.#pods.set(address, peer);
  }

  /** Another pod may have its address by now. */
  #deletePod(pod: Pod): void {
    const name = `${pod.namespace}/${pod.name}`;
    for (const address of addressesOf(pod))
      if (this.#pods.get(address)?.name === name) this.#pods.delete(address);
  }

  #addService(service: Service): void {
    const name = `${service.namespace}/${service.name}`;
    const peer: Peer = { kind: 'service', name, workload: name };
    for (const place of placesOf(service)) this.#services.set(place, peer);
  }

  /** Kubernetes may not know yet that a pod of this node has the address, nor that another one has it no more. */
  #attachedPod(address: string): Peer | undefined {
    this.#allocations ??= this.#deps.ipam.allocations();
    const found = this.#allocations.get(address);
    if (found?.attachment === undefined || found.pod.name === '') return undefined;
    const { namespace, name } = found.pod;
    const record = this.#deps
      .kubeState()
      .get(resources.pod.keyword)
      ?.get(resources.pod.key(name, namespace)) as Pod | undefined;
    const text = `${namespace}/${name}`;
    return { kind: 'pod', name: text, workload: record ? workloadOf(record) : text };
  }
}

/** Without those of pods in the network of the host, which are the node's. */
function addressesOf({ ip_address, ip_addresses, host_ip_address }: Pod): readonly string[] {
  if (ip_address === '' || ip_address === host_ip_address) return [];
  return ip_addresses.length > 0 ? ip_addresses : [ip_address];
}

/** Addresses and ports of a service; an empty address: its node port at any node. */
function placesOf(service: Service | undefined): string[] {
  if (!service) return [];
  const { cluster_ip, cluster_ips, external_ips, lb_ingress_ips, port: ports } = service;
  const addresses = [cluster_ip, ...cluster_ips, ...external_ips, ...lb_ingress_ips];
  const carried = [...new Set(addresses)].filter((one) => one !== '' && one !== 'None');
  return ports
    .map((one) => ({ ...one, protocol: one.protocol || 'TCP' }))
    .flatMap(({ protocol, port, node_port }) => [
      ...carried.map((address) => servicePlace(address, { protocol, port })),
      ...(node_port > 0 ? [servicePlace('', { protocol, port: node_port })] : []),
    ]);
}

function servicePlace(
  address: string,
  { protocol, port }: { readonly protocol: string; readonly port: number },
): string {
  return `${address} ${protocol} ${port}`;
}

/** Its prefix: 24 bits of IPv4, 64 of IPv6. */
function shortened(address: string): string {
  const bytes = Buffer.from(parseIp(address)!);
  const kept = bytes.length === 4 ? 3 : 8;
  return `${formatIp(bytes.fill(0, kept))}/${8 * kept}`;
}
