/**
 * Event handler that wires this node: NICs, host, VRFs, other nodes and pods. The name is that of the
 * original; it supports IPv6, too.
 */

import { Slices } from '#infra/clock/slices.ts';
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { familyOf, type IpFamily } from '#models/ip.ts';
import { VXLAN_PORT } from '#models/vpp/interface.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import type { HostLink, HostPort } from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { WireguardSessionPort } from '#plugins/controller/api/ports/wireguard.ts';
import {
  type OwnKeysPort,
  type Slot,
  slots,
} from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import {
  type Node,
  NodeProblems,
  type NodeSyncApi,
  NodeUpdate,
  type NodeUpdatePayload,
  type OwnNetwork,
} from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type AddPodPayload,
  type Attachment,
  type AttachmentId,
  attachmentId,
  changesTranslation,
  DeletePod,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';
import {
  type Ipv4NetApi,
  type NodeLink,
  type OwnSlotKey,
  type PodBandwidth,
  type PodInterfaceNames,
  SessionChange,
  type SessionChangePayload,
  type Uplink,
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
  type NodeInput,
  usesVxlan,
  withoutPrefixLength,
} from './node-input.ts';
import { addressesOfHost, NodeInputReader } from './node-input-reader.ts';
import { nodeLink, peersOfSlot } from './node-link.ts';
import { overlayValues } from './overlay.ts';
import { ownNetwork } from './own-network.ts';
import { podReply, podValues } from './pod.ts';
import { changesBandwidth } from './pod-bandwidth.ts';
import { isUnsupported, UnsupportedFeatures, warnOfPod } from './unsupported-features.ts';
import { uplinkOf } from './uplink.ts';
import {
  baseValues,
  ownProblems,
  putNode,
  putOtherNodes,
  type Wiring,
  wiredPods,
  wiringOf,
} from './wiring.ts';

export const PodAddressError = defineError({
  name: 'PodAddressError',
  code: 'CV_NET_POD_ADDRESS',
  remedy:
    'Retry the request. If the error recurs, look for messages of ipam about the pod in the log.',
});

export const PodNameConflictError = defineError({
  name: 'PodNameConflictError',
  code: 'CV_NET_POD_NAME_CONFLICT',
  remedy:
    'Delete the other pod. Names of interfaces contain only the beginning of a container ID: the runtime must assign IDs that begin differently.',
});

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

export function createIpv4Net(deps: Ipv4NetDeps): EventHandler & Ipv4NetApi {
  return new Ipv4Net(deps);
}

interface State extends Wiring {
  readonly unsupported: UnsupportedFeatures;
}

class Ipv4Net implements EventHandler<State>, Ipv4NetApi {
  readonly name = 'ipv4net';
  readonly state = new HandlerState<State>(this.name);
  readonly #deps: Ipv4NetDeps;
  readonly #inputReader: NodeInputReader;
  /** Kept over resyncs, so that each is logged once. */
  readonly #nodeProblems = new NodeProblems();
  /** The last update about nodes, and those that it has changed. */
  #changed: { readonly event: Event; readonly nodes: Iterable<string> } | undefined;

  constructor(deps: Ipv4NetDeps) {
    this.#deps = deps;
    this.#inputReader = new NodeInputReader(deps);
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (KubeStateChange.is(event))
      return (
        changesTranslation(event.payload) ||
        changesBandwidth(event.payload) ||
        isUnsupported(event.payload.resource)
      );
    const kinds = [NodeUpdate, SessionChange, AddPod, DeletePod];
    return kinds.some((kind) => kind.is(event));
  }

  async resync(ctx: ResyncContext): Promise<State> {
    const unsupported = this.#unsupported(ctx);
    const input = await this.#inputReader.read(ctx);
    this.#publishAddresses(ctx, input);
    this.#publishKeys(ctx, input);
    const deps = { ...this.#deps, nodeProblems: this.#nodeProblems };
    const established = await this.#inputReader.readEstablished(ctx);
    const wiring = await wiringOf(input, deps, ctx, established);
    await this.#tracePackets(ctx);
    return { ...wiring, unsupported };
  }

  /** Logged only when the database was read: other resyncs seldom find other resources. */
  #unsupported(ctx: ResyncContext): UnsupportedFeatures {
    const unsupported = new UnsupportedFeatures(this.#deps.conf, ctx.kubeState);
    if (ctx.isStateNew) unsupported.warn(ctx.log);
    return unsupported;
  }

  async update(ctx: UpdateContext, state: State): Promise<UpdateResult> {
    const { event } = ctx;
    if (KubeStateChange.is(event)) {
      const { resource, key, current } = event.payload;
      if (resource === 'pod') return this.#putPod(ctx, state, key);
      state.unsupported.change(ctx.kubeState, ctx.log, resource, key, current !== undefined);
      return {};
    }
    if (SessionChange.is(event)) return this.#sessionChange(ctx, state, event.payload);
    if (AddPod.is(event)) return this.#addPod(ctx, state, event.payload);
    if (DeletePod.is(event))
      return this.#deletePod(ctx, state, this.#deps.pods.idOf(event.payload));
    if (NodeUpdate.is(event))
      return event.payload.nodeName === this.#deps.nodeName
        ? this.#ownNodeUpdate(ctx, state, event.payload)
        : this.#nodeUpdate(ctx, state, event.payload);
    return {};
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
    const now = { ...input, ...addressesOfHost(own, this.#deps.ipam.families()) };
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

  peerKeys(slot: Slot): readonly string[] {
    const { known } = this.state;
    return known ? peersOfSlot(known, this.#deps.nodes.allNodes().values(), slot) : [];
  }

  encryptionProblem(): string | undefined {
    return this.#inputReader.encryptionProblem;
  }

  unsupportedFeatures(): readonly string[] {
    return this.state.known?.unsupported.texts() ?? [];
  }

  natProblem(): string | undefined {
    return this.#inputReader.natProblem;
  }

  mtuProblem(): string | undefined {
    return this.#inputReader.mtuProblem;
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
    return this.#changed?.event === event ? this.#changed.nodes : [];
  }

  nodeProblems(): Pick<NodeProblems, 'of' | 'nodes'> {
    return this.#nodeProblems;
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
    return [...this.#deps.desired.group(`${this.name}/${group}`).keys()];
  }

  /** With each full resync, because VPP may have restarted. Missing input nodes are only logged. */
  async #tracePackets(ctx: ResyncContext): Promise<void> {
    const full = ctx.event.kind.method(ctx.event.payload) === EventMethod.FullResync;
    if (!full || !this.#deps.conf.packetTrace()) return;
    try {
      const messages = await ctx.callPort('vpp/trace packets', () => this.#deps.vpp.tracePackets());
      ctx.log.info({ messages }, 'packet trace enabled in VPP; see vppctl show trace');
    } catch (cause) {
      ctx.log.warn({ err: cause }, 'cannot enable packet trace in VPP');
    }
  }

  /** Publishes the addresses of this node to the other nodes. */
  #publishAddresses(ctx: ResyncContext, input: NodeInput): void {
    const families = new Set(input.main.addresses.map(familyOf));
    for (const family of [4, 6] as const) {
      const isOfPods = input.networks.some((network) => network.family === family);
      if (!families.has(family) && !isOfPods) continue;
      const addresses = input.main.addresses.filter((address) => familyOf(address) === family);
      this.#deps.nodes.publishAddresses(ctx, addresses, family);
    }
  }

  /** Keys that are not known stay published: without them other nodes might send in clear text. */
  #publishKeys(ctx: ResyncContext, { wireguard }: NodeInput): void {
    if (wireguard?.keys.length === 0) return;
    this.#deps.nodes.publishKeys(
      ctx,
      wireguard && {
        port: wireguard.port,
        keys: wireguard.keys.map(({ publicKey, isReplaced }) => ({
          public_key: publicKey,
          is_replaced: isReplaced,
        })),
      },
    );
  }

  /**
   * A change of this node's Kubernetes addresses usually means that the addresses of the host changed. They also
   * tell by which link the host is in the network of the nodes, hence the MTU.
   */
  async #ownNodeUpdate(
    ctx: UpdateContext,
    state: State,
    { nodeName, current }: NodeUpdatePayload,
  ): Promise<UpdateResult> {
    const { input: before } = state;
    const input = await this.#inputReader.withCurrentHost(ctx, before);
    const ofHost = hostAddresses(input).join(', ');
    const hasOtherAddresses = ofHost !== hostAddresses(before).join(', ');
    const hasOtherMtu = input.interfaces.mtu !== before.interfaces.mtu;
    state.input = input;
    if (hasOtherAddresses) await this.#putAllNodes(ctx, state);
    else this.#putNodes(ctx, state, state.remote.set(nodeName, current));
    if (!hasOtherAddresses && !hasOtherMtu) return {};
    ctx.txn.replace(valueGroup.base, baseValues(input));
    if (hasOtherMtu) await this.#changeMtu(ctx, state);
    const changes = [
      ...(hasOtherAddresses ? [`addresses of the host: ${ofHost || 'none'}`] : []),
      ...(hasOtherMtu ? [`MTU of pods and host: ${input.interfaces.mtu}`] : []),
    ];
    return { change: changes.join('; ') };
  }

  async #changeMtu(ctx: UpdateContext, { input, reachable, tunnels }: State): Promise<void> {
    ctx.txn.replace(valueGroup.overlay, overlayValues(input, tunnels.of(reachable.ids())));
    const slices = new Slices(ctx.clock);
    for (const [attachment, values] of wiredPods(input, this.#deps, ctx.kubeState)) {
      ctx.txn.replace(valueGroup.pod(attachmentId(attachment)), values);
      if (slices.due()) await slices.turn();
    }
  }

  #nodeUpdate(
    ctx: UpdateContext,
    state: State,
    { nodeName, current }: NodeUpdatePayload,
  ): UpdateResult {
    const { input, reachable, tunnels } = state;
    const before = reachable.ids();
    const affected = state.remote.set(nodeName, current);
    for (const name of reachable.set(nodeName, current)) affected.add(name);
    for (const name of state.keys.set(nodeName, current)) affected.add(name);
    this.#putNodes(ctx, state, affected);
    const after = reachable.ids();
    if (before !== after)
      ctx.txn.replace(valueGroup.overlay, overlayValues(input, tunnels.of(after)));
    const isReachable = current !== undefined && nodeLink(state, current).address !== undefined;
    return { change: isReachable ? `way to node ${nodeName}` : `no way to node ${nodeName}` };
  }

  #sessionChange(
    ctx: UpdateContext,
    state: State,
    { established, ended }: SessionChangePayload,
  ): UpdateResult {
    const { keys } = state;
    const affected = new Set([
      ...established.flatMap((key) => keys.setEstablished(key, true)),
      ...ended.flatMap((key) => keys.setEstablished(key, false)),
    ]);
    this.#putNodes(ctx, state, affected);
    return affected.size === 0 ? {} : { change: `sessions with ${[...affected].join(', ')}` };
  }

  /** Puts the values of nodes, and reports their problems. */
  #putNodes(ctx: UpdateContext, state: State, names: Iterable<string>): void {
    this.#changed = { event: ctx.event, nodes: names };
    for (const name of names) {
      const node = state.remote.node(name);
      const isOwn = name === this.#deps.nodeName;
      if (node === undefined && !isOwn) ctx.txn.replace(valueGroup.node(name), []);
      const problems = node && (isOwn ? ownProblems(node) : putNode(state, ctx, node));
      this.#nodeProblems.set(ctx.log, name, problems ?? []);
    }
  }

  /** An address of this node is none of another one. */
  async #putAllNodes(ctx: UpdateContext, state: State): Promise<void> {
    const slices = new Slices(ctx.clock);
    const { problems, ...others } = await putOtherNodes(
      state.input,
      this.#deps,
      ctx,
      slices,
      state.keys.established(),
    );
    Object.assign(state, others);
    this.#nodeProblems.replaceAll(ctx.log, problems);
    const tunnels = state.tunnels.of(state.reachable.ids());
    ctx.txn.replace(valueGroup.overlay, overlayValues(state.input, tunnels));
    this.#changed = { event: ctx.event, nodes: this.#deps.nodes.allNodes().keys() };
  }

  async #addPod(
    ctx: UpdateContext,
    { input, links, bandwidth }: State,
    payload: AddPodPayload,
  ): Promise<UpdateResult> {
    const id = this.#deps.pods.idOf(payload);
    const attachment = this.#deps.pods.attachments().get(id);
    const addresses = this.#deps.ipam.podAddresses(id);
    if (!attachment || addresses.length === 0)
      throw new PodAddressError('ipam has no address for the pod', {
        where: podIdText(payload.pod),
      });
    const other = links.withSameNames(input, attachment);
    if (other)
      throw new PodNameConflictError(
        `its interfaces would have the names of those of ${podIdText(other.pod)}, ${attachmentId(other)}`,
        { where: id },
      );
    warnOfPod(ctx.log, ctx.kubeState, attachment.pod);
    const { networkNamespace } = attachment;
    if (input.ipv6InPods)
      ctx.beforeCommit(
        ctx.callPort(`host/enable IPv6 ${networkNamespace}`, () =>
          this.#deps.host.enableIpv6(networkNamespace),
        ),
      );
    const values = podValues(input, attachment, addresses, ctx.kubeState);
    ctx.txn.replace(valueGroup.pod(id), values, { evenUnchanged: true });
    const names = links.set(input, attachment);
    await bandwidth.put(ctx, attachment, names.vpp);
    return {
      change: `wire ${podIdText(attachment.pod)} with ${addresses.join(', ')}`,
      reply: podReply(input, attachment, addresses),
    };
  }

  /** The record of a pod says whether its packets pass NAT44, and how many may pass. */
  async #putPod(
    ctx: UpdateContext,
    { input, links, bandwidth }: State,
    key: string,
  ): Promise<UpdateResult> {
    const pod = resources.pod.parseKey(key);
    for (const attachment of pod ? this.#deps.pods.attachmentsOf(pod) : []) {
      const id = attachmentId(attachment);
      const names = links.names(id);
      if (!names) continue;
      const addresses = this.#deps.ipam.podAddresses(id);
      const values = podValues(input, attachment, addresses, ctx.kubeState);
      ctx.txn.replace(valueGroup.pod(id), values);
      await bandwidth.put(ctx, attachment, names.vpp);
    }
    return {};
  }

  #deletePod(ctx: UpdateContext, { links, bandwidth }: State, id: AttachmentId): UpdateResult {
    if (!links.names(id)) return {};
    ctx.txn.replace(valueGroup.pod(id), []);
    bandwidth.delete(ctx, id);
    links.delete(id);
    return { change: `unwire ${id}` };
  }
}
