/**
 * Event handler that wires this node: NICs, host, VRFs, other nodes and pods. The name is that of the
 * original; it supports IPv6, too.
 */

import { Slices } from '#infra/clock/slices.ts';
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import { AbortEventError, abortedBy } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import {
  type Node,
  type NodeSyncApi,
  NodeUpdate,
  type NodeUpdatePayload,
} from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type AddPodPayload,
  type Attachment,
  type AttachmentId,
  attachmentId,
  DeletePod,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';
import type { Ipv4NetApi, NodeLink, PodInterfaceNames } from './api.ts';
import { hostInterconnectName } from './interconnect-names.ts';
import { tunnelNodeId, VRF_LINK, VXLAN_BVI, valueGroup } from './names.ts';
import { mainInterfaceName } from './nics.ts';
import { familyOf, type NodeInput } from './node-input.ts';
import { NodeInputReader } from './node-input-reader.ts';
import { nodeLink } from './node-link.ts';
import { overlayValues } from './overlay.ts';
import { podReply, podValues } from './pod.ts';
import { PodLinks } from './pod-links.ts';
import { type Reachability, ReachableNodes } from './reachable-nodes.ts';
import { TunnelMembers } from './tunnel-members.ts';
import { UnsupportedFeatures, warnOfPod } from './unsupported-features.ts';
import {
  baseValues,
  logConflict,
  valuesOfNode,
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
  readonly desired: Pick<DesiredValues, 'group'>;
}

export function createIpv4Net(deps: Ipv4NetDeps): EventHandler & Ipv4NetApi {
  return new Ipv4Net(deps);
}

interface Undo {
  readonly id: AttachmentId;
  /** undefined: it was not wired before. */
  readonly attachment: Attachment | undefined;
}

/** Before the first resync. */
const noReachability: Reachability = {
  ownAddress: '',
  addressOf: () => undefined,
  whyUnreachable: () => undefined,
};

class Ipv4Net implements EventHandler, Ipv4NetApi {
  readonly name = 'ipv4net';
  readonly #deps: Ipv4NetDeps;
  readonly #inputReader: NodeInputReader;
  readonly #unsupported: UnsupportedFeatures;
  #input: NodeInput | undefined;
  #reachable = new ReachableNodes(noReachability);
  #tunnels = new TunnelMembers();
  #links = new PodLinks();
  /** State of a pod before the last Add Pod, needed to revert it. */
  #undo: Undo | undefined;

  constructor(deps: Ipv4NetDeps) {
    this.#deps = deps;
    this.#inputReader = new NodeInputReader(deps);
    this.#unsupported = new UnsupportedFeatures(deps.conf);
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (KubeStateChange.is(event)) return this.#unsupported.handles(event.payload.resource);
    // changes before the first successful resync are part of the input of that resync
    if (NodeUpdate.is(event)) return this.#input !== undefined;
    return AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext): Promise<void> {
    // not with every resync: other resyncs have the same resources
    if (DbResync.is(ctx.event)) {
      this.#unsupported.resync(ctx.kubeState);
      this.#unsupported.warn(ctx.log);
    }
    const built = await this.#build(ctx).catch((thrown) => {
      throw abortedBy(thrown, 'cannot calculate the wiring of this node');
    });
    this.#input = built.input;
    this.#reachable = built.reachable;
    this.#tunnels = built.tunnels;
    this.#links = built.links;
    await this.#tracePackets(ctx);
  }

  /** Builds a complete new state, which replaces the current one only if it succeeds. */
  async #build(ctx: ResyncContext): Promise<Wiring> {
    const input = await this.#inputReader.read(ctx);
    // before the other nodes are read: an address of this node counts as none of theirs
    await this.#publishAddresses(ctx, input);
    return wiringOf(input, this.#deps, ctx);
  }

  async update(ctx: UpdateContext): Promise<UpdateResult> {
    const { event } = ctx;
    if (KubeStateChange.is(event)) {
      const { resource, key, current } = event.payload;
      this.#unsupported.change(ctx.kubeState, ctx.log, resource, key, current !== undefined);
      return {};
    }
    if (AddPod.is(event)) return this.#addPod(ctx, event.payload);
    if (DeletePod.is(event)) return this.#deletePod(ctx, this.#deps.pods.idOf(event.payload));
    if (NodeUpdate.is(event))
      return event.payload.nodeName === this.#deps.nodeName
        ? this.#ownNodeUpdate(ctx)
        : this.#nodeUpdate(ctx, event.payload);
    return {};
  }

  revert(ctx: RevertContext): void {
    const undo = this.#undo;
    this.#undo = undefined;
    if (!undo || !AddPod.is(ctx.event)) return;
    const { id, attachment } = undo;
    if (this.#deps.pods.idOf(ctx.event.payload) !== id) return;
    this.#links.delete(id);
    if (attachment) this.#links.set(this.#currentInput, attachment);
  }

  problems(): readonly CodedError[] {
    const main = this.#input?.main;
    if (!main?.useDhcp || main.addresses.length > 0) return [];
    const text = 'no DHCP lease: other nodes cannot reach this node';
    return [new NoLeaseError(text, { where: main.name })];
  }

  nodeAddress(): string | undefined {
    return this.#input?.main.addresses[0];
  }

  defaultGateway(): string {
    return this.#input?.defaultGateway ?? '';
  }

  hostAddresses(): readonly string[] {
    return [...(this.#input?.hostAddresses ?? [])];
  }

  mainInterface(): string {
    return mainInterfaceName(this.#currentInput);
  }

  leasedInterface(): string | undefined {
    const main = this.#input?.main;
    return main?.useDhcp ? main.name : undefined;
  }

  otherInterfaces(): readonly string[] {
    return this.#currentInput.others.map(({ name }) => name);
  }

  hostInterconnect(): string {
    return hostInterconnectName(this.#currentInput);
  }

  vrfLink(): string {
    return VRF_LINK;
  }

  vxlanBvi(): string | undefined {
    return this.#currentInput.routing.transport === 'vxlan' ? VXLAN_BVI : undefined;
  }

  unsupportedFeatures(): readonly string[] {
    return this.#unsupported.texts();
  }

  podKeys(attachment: AttachmentId): readonly string[] {
    return this.#keysOf(valueGroup.pod(attachment));
  }

  podInterfaces(attachment: AttachmentId): PodInterfaceNames | undefined {
    return this.#links.names(attachment);
  }

  podByInterface(vppInterface: string): Attachment | undefined {
    return this.#links.behind(vppInterface);
  }

  nodeLink(node: Node): NodeLink | undefined {
    return this.#input && nodeLink(this.#input, this.#reachable, node);
  }

  nodeKeys(nodeName: string): readonly string[] {
    return this.#keysOf(valueGroup.node(nodeName));
  }

  nodeByTunnel(vppInterface: string): string | undefined {
    const id = tunnelNodeId(vppInterface);
    return id === undefined ? undefined : this.#reachable.nameOf(id);
  }

  describeInternalData(): string {
    const { addresses: _, ...input } = this.#input ?? {};
    return JSON.stringify({
      site: input,
      neighbors: this.#reachable.ids(),
      wired: this.#links.entries(),
    });
  }

  #keysOf(group: string): readonly string[] {
    return [...this.#deps.desired.group(`${this.name}/${group}`).keys()];
  }

  get #currentInput(): NodeInput {
    if (!this.#input) throw new AbortEventError('interfaces are unknown before the first resync');
    return this.#input;
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
  async #publishAddresses(ctx: ResyncContext, input: NodeInput): Promise<void> {
    const families = new Set(input.main.addresses.map(familyOf));
    for (const family of [4, 6] as const) {
      if (!families.has(family) && family !== input.family) continue;
      const addresses = input.main.addresses.filter((address) => familyOf(address) === family);
      await this.#deps.nodes.publishAddresses(ctx, addresses, family);
    }
  }

  /**
   * A change of this node's Kubernetes addresses usually means that the addresses of the host changed. They also
   * tell by which link the host is in the network of the nodes, hence the MTU.
   */
  async #ownNodeUpdate(ctx: UpdateContext): Promise<UpdateResult> {
    const before = this.#currentInput;
    const input = await this.#inputReader.withCurrentHost(ctx, before);
    const { hostAddresses, interfaces } = input;
    const hasOtherAddresses = hostAddresses.join() !== before.hostAddresses.join();
    const hasOtherMtu = interfaces.mtu !== before.interfaces.mtu;
    if (!hasOtherAddresses && !hasOtherMtu) return {};
    this.#input = input;
    ctx.txn.replace(valueGroup.base, baseValues(input));
    if (hasOtherMtu) await this.#changeMtu(ctx, input);
    const changes = [
      ...(hasOtherAddresses
        ? [`addresses of the host: ${hostAddresses.join(', ') || 'none'}`]
        : []),
      ...(hasOtherMtu ? [`MTU of pods and host: ${interfaces.mtu}`] : []),
    ];
    return { change: changes.join('; ') };
  }

  async #changeMtu(ctx: UpdateContext, input: NodeInput): Promise<void> {
    const tunnels = this.#tunnels.of(this.#reachable.ids());
    ctx.txn.replace(valueGroup.overlay, overlayValues(input, tunnels));
    const slices = new Slices(ctx.clock);
    for (const [attachment, values] of wiredPods(input, this.#deps)) {
      ctx.txn.replace(valueGroup.pod(attachmentId(attachment)), values);
      if (slices.due()) await slices.turn();
    }
  }

  #nodeUpdate(ctx: UpdateContext, { nodeName, current }: NodeUpdatePayload): UpdateResult {
    const input = this.#currentInput;
    const before = this.#reachable.ids();
    for (const name of this.#reachable.set(nodeName, current)) {
      const values = valuesOfNode(input, this.#reachable, name);
      ctx.txn.replace(valueGroup.node(name), values);
      logConflict(ctx, this.#reachable, name);
    }
    const after = this.#reachable.ids();
    if (before !== after)
      ctx.txn.replace(valueGroup.overlay, overlayValues(input, this.#tunnels.of(after)));
    const isReachable = this.#reachable.find(nodeName) !== undefined;
    return { change: isReachable ? `way to node ${nodeName}` : `no way to node ${nodeName}` };
  }

  async #addPod(ctx: UpdateContext, payload: AddPodPayload): Promise<UpdateResult> {
    const input = this.#currentInput;
    const id = this.#deps.pods.idOf(payload);
    const attachment = this.#deps.pods.attachments().get(id);
    const [address] = this.#deps.ipam.podAddresses(id);
    this.#undo = undefined;
    if (!attachment || address === undefined)
      throw new PodAddressError('ipam has no address for the pod', {
        where: podIdText(payload.pod),
      });
    const other = this.#links.withSameNames(input, attachment);
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
    const values = podValues(input, attachment, address);
    this.#undo = { id, attachment: this.#links.attachment(id) };
    ctx.txn.replace(valueGroup.pod(id), values, { evenUnchanged: true });
    this.#links.set(input, attachment);
    return {
      change: `wire ${podIdText(attachment.pod)} with ${address}`,
      reply: podReply(input, attachment, address),
    };
  }

  #deletePod(ctx: UpdateContext, id: AttachmentId): UpdateResult {
    if (!this.#links.names(id)) return {};
    ctx.txn.replace(valueGroup.pod(id), []);
    this.#links.delete(id);
    return { change: `unwire ${id}` };
  }
}
