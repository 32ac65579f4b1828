/** The wiring of this node as of the last event, for the other handlers, the packet trace and the status. */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { IpFamily } from '#models/ip.ts';
import { VXLAN_PORT } from '#models/vpp/interface.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import type { HostLink, HostPort } from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { WireguardSessionPort } from '#plugins/controller/api/ports/wireguard.ts';
import { type OwnKeysPort, slots } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import {
  type Node,
  NodeProblems,
  type NodeSyncApi,
  type OwnNetwork,
} from '#plugins/nodesync/api.ts';
import type { Attachment, AttachmentId, PodManagerApi } from '#plugins/podmanager/api.ts';
import type {
  Ipv4NetApi,
  NodeLink,
  OwnSlotKey,
  Peer,
  PodBandwidth,
  PodInterfaceNames,
  Uplink,
} from './api.ts';
import { hostGateway } from './host-link.ts';
import { hostInterconnectName } from './interconnect-names.ts';
import {
  hostTap,
  NAT_LINK,
  tunnelNodeId,
  VRF_LINK,
  VXLAN_BVI,
  valueGroup,
  wireguardInterface,
} from './names.ts';
import { mainInterfaceName } from './nics.ts';
import {
  familyInput,
  hostAddresses,
  isHostLink,
  usesVxlan,
  withoutPrefixLength,
} from './node-input.ts';
import { addressesOfHost, NodeInputReader } from './node-input-reader.ts';
import { nodeLink, peersOfNodes } from './node-link.ts';
import { ownNetwork } from './own-network.ts';
import type { UnsupportedFeatures } from './unsupported-features.ts';
import { uplinkOf } from './uplink.ts';
import type { Wiring } from './wiring.ts';

export const NoLeaseError = defineError({
  name: 'NoLeaseError',
  code: 'CV_NET_NO_LEASE',
  isRetriable: false,
  remedy:
    'Check that the DHCP server of the network answers and has free addresses; `vppctl show dhcp client` shows what VPP waits for. The lease ends the error.',
});

export interface Ipv4NetDeps {
  readonly nodeName: string;
  readonly conf: ContivConfApi;
  readonly nodes: NodeSyncApi;
  readonly pods: PodManagerApi;
  readonly ipam: IpamApi;
  readonly host: HostPort;
  readonly vpp: VppPort;
  readonly ownKeys: OwnKeysPort;
  readonly sessions: Pick<WireguardSessionPort, 'read'>;
  readonly desired: Pick<DesiredValues, 'group'>;
}

export interface WiredState extends Wiring {
  readonly unsupported: UnsupportedFeatures;
}

/** The handler of events changes its state. */
export abstract class WiredNet implements Ipv4NetApi {
  readonly name = 'ipv4net';
  readonly state = new HandlerState<WiredState>(this.name);
  protected readonly deps: Ipv4NetDeps;
  protected readonly inputReader: NodeInputReader;
  /** Kept over resyncs, so that each is logged once. */
  protected readonly knownProblems = new NodeProblems();
  /** The last update about nodes, and those that it has changed. */
  protected changed: { readonly event: Event; readonly nodes: Iterable<string> } | undefined;

  constructor(deps: Ipv4NetDeps) {
    this.deps = deps;
    this.inputReader = new NodeInputReader(deps);
  }

  problems(): readonly CodedError[] {
    const main = this.state.known?.input.main;
    if (!main?.useDhcp || main.addresses.length > 0) return [];
    const text = 'no DHCP lease: other nodes cannot reach this node';
    return [new NoLeaseError(text, { where: main.name })];
  }

  nodeAddresses(): readonly string[] {
    return this.state.known?.input.main.addresses ?? [];
  }

  defaultGateways(): readonly string[] {
    return this.state.known?.input.defaultGateways ?? [];
  }

  hostAddresses(): readonly string[] {
    const { known } = this.state;
    return known ? hostAddresses(known.input) : [];
  }

  hostLinks(): readonly string[] {
    return [...(this.state.known?.input.hostLinks ?? [])];
  }

  otherHostAddresses(links: readonly HostLink[]): readonly string[] | undefined {
    const { known } = this.state;
    if (!known) return undefined;
    const { input } = known;
    const own = links.filter(isHostLink);
    const now = { ...input, ...addressesOfHost(own, this.deps.ipam.families()) };
    const isSame =
      hostAddresses(now).join() === hostAddresses(input).join() &&
      now.hostLinks.join() === input.hostLinks.join();
    return isSame ? undefined : hostAddresses(now);
  }

  hostGateway(): ReturnType<Ipv4NetApi['hostGateway']> {
    const ipv4 = familyInput(this.state.current.input, 4);
    const gateway = ipv4 && hostGateway(ipv4);
    return gateway === undefined ? undefined : { link: hostTap.linuxHost, gateway };
  }

  hostLinkEnds(): ReturnType<Ipv4NetApi['hostLinkEnds']> {
    const ipv4 = familyInput(this.state.current.input, 4);
    if (ipv4 === undefined || ipv4.stn !== undefined || ipv4.routing.mainVrf !== 0)
      return undefined;
    const { addresses } = ipv4;
    return {
      host: withoutPrefixLength(addresses.hostInterconnectLinux()),
      vpp: withoutPrefixLength(addresses.hostInterconnectVpp()),
    };
  }

  mainInterface(): string {
    return mainInterfaceName(this.state.current.input);
  }

  leasedInterface(): string | undefined {
    const main = this.state.known?.input.main;
    return main?.useDhcp ? main.name : undefined;
  }

  otherInterfaces(): readonly string[] {
    return this.state.current.input.others.map(({ name }) => name);
  }

  hostInterconnect(): string {
    return hostInterconnectName(this.state.current.input);
  }

  uplink(family: IpFamily): Uplink | undefined {
    return uplinkOf(this.state.current.input, family);
  }

  vrfLink(): string {
    return VRF_LINK;
  }

  natLink(): string {
    return NAT_LINK;
  }

  overlayInterfaces(): readonly string[] {
    const { input } = this.state.current;
    const encrypting = (input.wireguard?.keys ?? []).map(({ slot }) => wireguardInterface(slot));
    return [...(usesVxlan(input) ? [VXLAN_BVI] : []), ...encrypting];
  }

  overlayPorts(): ReturnType<Ipv4NetApi['overlayPorts']> {
    const { input } = this.state.current;
    const { port = 0 } = input.wireguard ?? {};
    const ofSlots = input.wireguard ? slots.map((slot) => port + slot) : [];
    return [
      ...(usesVxlan(input) ? [{ port: VXLAN_PORT, user: 'VXLAN' }] : []),
      ...ofSlots.map((one) => ({ port: one, user: 'WireGuard' })),
    ];
  }

  wiredKeys(): readonly OwnSlotKey[] | undefined {
    return this.state.known?.input.wireguard?.keys;
  }

  peers(): readonly (readonly Peer[])[] {
    const { known } = this.state;
    return known ? peersOfNodes(known, this.deps.nodes.allNodes().values()) : [];
  }

  encryptionProblem(): string | undefined {
    return this.inputReader.encryptionProblem;
  }

  unsupportedFeatures(): readonly string[] {
    return this.state.known?.unsupported.texts() ?? [];
  }

  natProblem(): string | undefined {
    return this.inputReader.natProblem;
  }

  mtuProblem(): string | undefined {
    return this.inputReader.mtuProblem;
  }

  podKeys(attachment: AttachmentId): readonly string[] {
    return [valueGroup.pod(attachment), valueGroup.bandwidth(attachment)].flatMap((group) =>
      this.#keysOf(group),
    );
  }

  podBandwidth(attachment: AttachmentId): PodBandwidth | undefined {
    return this.state.known?.bandwidth.of(attachment);
  }

  bandwidthProblems(): readonly string[] {
    return this.state.known?.bandwidth.problems() ?? [];
  }

  podInterfaces(attachment: AttachmentId): PodInterfaceNames | undefined {
    return this.state.known?.links.names(attachment);
  }

  podByInterface(vppInterface: string): Attachment | undefined {
    return this.state.known?.links.behind(vppInterface);
  }

  nodeLink(node: Node): NodeLink | undefined {
    const { known } = this.state;
    return known && nodeLink(known, node);
  }

  ownNetwork(): OwnNetwork {
    return ownNetwork(this.state.current.input);
  }

  routedAddresses(node: Node): readonly string[] {
    const { reachable, remote } = this.state.current;
    return reachable.find(node.name) ? remote.routes(node) : [];
  }

  nodesChangedBy(event: Event): Iterable<string> {
    return this.changed?.event === event ? this.changed.nodes : [];
  }

  nodeProblems(): Pick<NodeProblems, 'of' | 'nodes'> {
    return this.knownProblems;
  }

  nodeKeys(nodeName: string): readonly string[] {
    return this.#keysOf(valueGroup.node(nodeName));
  }

  nodeByTunnel(vppInterface: string): string | undefined {
    const id = tunnelNodeId(vppInterface);
    return id === undefined ? undefined : this.state.known?.reachable.nameOf(id);
  }

  describeInternalData(): string {
    const { known } = this.state;
    if (!known) return '';
    const { networks, ...input } = known.input;
    const families = networks.map(({ addresses: _, ...network }) => network);
    return JSON.stringify({
      site: { ...input, networks: families },
      neighbors: known.reachable.ids(),
      wired: known.links.entries(),
    });
  }

  #keysOf(group: string): readonly string[] {
    return [...this.deps.desired.group(`${this.name}/${group}`).keys()];
  }
}
