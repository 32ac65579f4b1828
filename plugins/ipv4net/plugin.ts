/**
 * Event handler that wires this node: NICs, host, VRFs, other nodes and pods. The name is that of the
 * original; it supports IPv6, too.
 */

import { Slices } from '#infra/clock/slices.ts';
import { defineError } from '#infra/errors/errors.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { familyOf } from '#models/ip.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { NodeUpdate, type NodeUpdatePayload } from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type AddPodPayload,
  type AttachmentId,
  attachmentId,
  changesTranslation,
  DeletePod,
  podIdText,
} from '#plugins/podmanager/api.ts';
import { type Ipv4NetApi, SessionChange, type SessionChangePayload } from './api.ts';
import { valueGroup } from './names.ts';
import { hostAddresses, type NodeInput } from './node-input.ts';
import { nodeLink } from './node-link.ts';
import { overlayValues } from './overlay.ts';
import { podReply, podValues } from './pod.ts';
import { changesBandwidth } from './pod-bandwidth.ts';
import { isUnsupported, UnsupportedFeatures, warnOfPod } from './unsupported-features.ts';
import { type Ipv4NetDeps, WiredNet, type WiredState } from './wired-net.ts';
import { baseValues, ownProblems, putNode, putOtherNodes, wiredPods, wiringOf } from './wiring.ts';

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

export function createIpv4Net(deps: Ipv4NetDeps): EventHandler & Ipv4NetApi {
  return new Ipv4Net(deps);
}

class Ipv4Net extends WiredNet implements EventHandler<WiredState> {
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

  async resync(ctx: ResyncContext): Promise<WiredState> {
    const unsupported = this.#unsupported(ctx);
    const input = await this.inputReader.read(ctx);
    this.#publishAddresses(ctx, input);
    this.#publishKeys(ctx, input);
    const deps = { ...this.deps, nodeProblems: this.knownProblems };
    const established = await this.inputReader.readEstablished(ctx);
    const wiring = await wiringOf(input, deps, ctx, established);
    await this.#tracePackets(ctx);
    return { ...wiring, unsupported };
  }

  /** Logged only when the database was read: other resyncs seldom find other resources. */
  #unsupported(ctx: ResyncContext): UnsupportedFeatures {
    const unsupported = new UnsupportedFeatures(this.deps.conf, ctx.kubeState);
    if (ctx.isStateNew) unsupported.warn(ctx.log);
    return unsupported;
  }

  async update(ctx: UpdateContext, state: WiredState): Promise<UpdateResult> {
    const { event } = ctx;
    if (KubeStateChange.is(event)) {
      const { resource, key, current } = event.payload;
      if (resource === 'pod') return this.#putPod(ctx, state, key);
      state.unsupported.change(ctx.kubeState, ctx.log, resource, key, current !== undefined);
      return {};
    }
    if (SessionChange.is(event)) return this.#sessionChange(ctx, state, event.payload);
    if (AddPod.is(event)) return this.#addPod(ctx, state, event.payload);
    if (DeletePod.is(event)) return this.#deletePod(ctx, state, this.deps.pods.idOf(event.payload));
    if (NodeUpdate.is(event))
      return event.payload.nodeName === this.deps.nodeName
        ? this.#ownNodeUpdate(ctx, state, event.payload)
        : this.#nodeUpdate(ctx, state, event.payload);
    return {};
  }

  /** With each full resync, because VPP may have restarted. Missing input nodes are only logged. */
  async #tracePackets(ctx: ResyncContext): Promise<void> {
    const full = ctx.event.kind.method(ctx.event.payload) === EventMethod.FullResync;
    if (!full || !this.deps.conf.packetTrace()) return;
    try {
      const messages = await ctx.callPort('vpp/trace packets', () => this.deps.vpp.tracePackets());
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
      this.deps.nodes.publishAddresses(ctx, addresses, family);
    }
  }

  /** Keys that are not known stay published: without them other nodes might send in clear text. */
  #publishKeys(ctx: ResyncContext, { wireguard }: NodeInput): void {
    if (wireguard?.keys.length === 0) return;
    this.deps.nodes.publishKeys(
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
    state: WiredState,
    { nodeName, current }: NodeUpdatePayload,
  ): Promise<UpdateResult> {
    const { input: before } = state;
    const input = await this.inputReader.withCurrentHost(ctx, before);
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

  async #changeMtu(ctx: UpdateContext, { input, reachable, tunnels }: WiredState): Promise<void> {
    ctx.txn.replace(valueGroup.overlay, overlayValues(input, tunnels.of(reachable.ids())));
    const slices = new Slices(ctx.clock);
    for (const [attachment, values] of wiredPods(input, this.deps, ctx.kubeState)) {
      ctx.txn.replace(valueGroup.pod(attachmentId(attachment)), values);
      if (slices.due()) await slices.turn();
    }
  }

  #nodeUpdate(
    ctx: UpdateContext,
    state: WiredState,
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
    state: WiredState,
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
  #putNodes(ctx: UpdateContext, state: WiredState, names: Iterable<string>): void {
    this.changed = { event: ctx.event, nodes: names };
    for (const name of names) {
      const node = state.remote.node(name);
      const isOwn = name === this.deps.nodeName;
      if (node === undefined && !isOwn) ctx.txn.replace(valueGroup.node(name), []);
      const problems = node && (isOwn ? ownProblems(node) : putNode(state, ctx, node));
      this.knownProblems.set(ctx.log, name, problems ?? []);
    }
  }

  /** An address of this node is none of another one. */
  async #putAllNodes(ctx: UpdateContext, state: WiredState): Promise<void> {
    const slices = new Slices(ctx.clock);
    const { problems, ...others } = await putOtherNodes(
      state.input,
      this.deps,
      ctx,
      slices,
      state.keys.established(),
    );
    Object.assign(state, others);
    this.knownProblems.replaceAll(ctx.log, problems);
    const tunnels = state.tunnels.of(state.reachable.ids());
    ctx.txn.replace(valueGroup.overlay, overlayValues(state.input, tunnels));
    this.changed = { event: ctx.event, nodes: this.deps.nodes.allNodes().keys() };
  }

  async #addPod(
    ctx: UpdateContext,
    { input, links, bandwidth }: WiredState,
    payload: AddPodPayload,
  ): Promise<UpdateResult> {
    const id = this.deps.pods.idOf(payload);
    const attachment = this.deps.pods.attachments().get(id);
    const addresses = this.deps.ipam.podAddresses(id);
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
          this.deps.host.enableIpv6(networkNamespace),
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
    { input, links, bandwidth }: WiredState,
    key: string,
  ): Promise<UpdateResult> {
    const pod = resources.pod.parseKey(key);
    for (const attachment of pod ? this.deps.pods.attachmentsOf(pod) : []) {
      const id = attachmentId(attachment);
      const names = links.names(id);
      if (!names) continue;
      const addresses = this.deps.ipam.podAddresses(id);
      const values = podValues(input, attachment, addresses, ctx.kubeState);
      ctx.txn.replace(valueGroup.pod(id), values);
      await bandwidth.put(ctx, attachment, names.vpp);
    }
    return {};
  }

  #deletePod(ctx: UpdateContext, { links, bandwidth }: WiredState, id: AttachmentId): UpdateResult {
    if (!links.names(id)) return {};
    ctx.txn.replace(valueGroup.pod(id), []);
    bandwidth.delete(ctx, id);
    links.delete(id);
    return { change: `unwire ${id}` };
  }
}
