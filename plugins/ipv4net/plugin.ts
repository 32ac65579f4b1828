/**
 * Event handler that wires this node: NICs, host, VRFs, other nodes and pods. It keeps the name that
 * it has had from the beginning and carries IPv6 as well.
 */

import { Slices } from '#infra/clock/slices.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import { AbortEventError, FatalError } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { DbResync, KubeStateChange, Shutdown } from '#plugins/controller/api/events.ts';
import type { HostView } from '#plugins/controller/api/ports/host.ts';
import type { VppView } from '#plugins/controller/api/ports/vpp.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import { type NodeSyncApi, NodeUpdate, type NodeUpdatePayload } from '#plugins/nodesync/api.ts';
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
import type { Ipv4NetApi, PodInterfaceNames } from './api.ts';
import { ItemBook } from './book.ts';
import { hostItems } from './host.ts';
import { hostInterconnectName } from './interconnect.ts';
import type { Item } from './items.ts';
import { Lookout } from './look.ts';
import { part, VXLAN_BVI } from './names.ts';
import { Neighbors, type Ways } from './neighbors.ts';
import { mainInterfaceName, nicItems } from './nics.ts';
import { nodeItems, obstacleTo, overlayItems, reachableAt } from './overlay.ts';
import { podItems, podReply } from './pod.ts';
import { PodLinks } from './pod-links.ts';
import { familyOf, nodeIp, type Site } from './site.ts';
import { stnItems } from './stn.ts';
import { isUnsupported, warnOfPod, warnOfResource, warnOfResources } from './unsupported.ts';
import { vrfItems } from './vrfs.ts';

export const PodAddressError = defineError({
  name: 'PodAddressError',
  code: 'CV_NET_POD_ADDRESS',
  remedy: 'Repeat the request; if it comes back, see what ipam says about the pod in the log.',
});

export interface Ipv4NetDeps {
  readonly nodeName: string;
  readonly conf: ContivConfApi;
  readonly nodes: NodeSyncApi;
  readonly pods: PodManagerApi;
  readonly ipam: IpamApi;
  readonly host: HostView;
  readonly vpp: VppView;
}

export function createIpv4Net(deps: Ipv4NetDeps): EventHandler & Ipv4NetApi {
  return new Ipv4Net(deps);
}

interface Undo {
  readonly id: AttachmentId;
  /** undefined: it was not wired. */
  readonly attachment: Attachment | undefined;
  readonly items: readonly Item[];
}

/** What a resync makes. */
interface Built {
  readonly site: Site;
  readonly book: ItemBook;
  readonly neighbors: Neighbors;
  readonly links: PodLinks;
}

/**
 * What cannot be built ends the event: were it committed without, all of it would be taken away.
 * @throws FatalError as it is, AbortEventError for everything else
 */
function whole(thrown: unknown): never {
  if (thrown instanceof FatalError || thrown instanceof AbortEventError) throw thrown;
  throw new AbortEventError(`the wiring cannot be worked out: ${errorText(thrown)}`, {
    cause: thrown,
  });
}

class Ipv4Net implements EventHandler, Ipv4NetApi {
  readonly name = 'ipv4net';
  readonly #deps: Ipv4NetDeps;
  readonly #lookout: Lookout;
  #site: Site | undefined;
  #book = new ItemBook();
  #neighbors = new Neighbors(noWays);
  #links = new PodLinks();
  /** What a pod was before the last Add Pod, for the case that it is reverted. */
  #undo: Undo | undefined;

  constructor(deps: Ipv4NetDeps) {
    this.#deps = deps;
    this.#lookout = new Lookout(deps);
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (KubeStateChange.is(event)) return isUnsupported(event.payload.resource);
    // what changes before a resync has gone through is part of what the next one reads
    if (NodeUpdate.is(event)) return this.#site !== undefined;
    return AddPod.is(event) || DeletePod.is(event) || Shutdown.is(event);
  }

  async resync(ctx: ResyncContext): Promise<void> {
    // not with every resync: they are as they were
    if (DbResync.is(ctx.event)) warnOfResources(ctx.log, ctx.kubeState);
    const built = await this.#build(ctx).catch(whole);
    this.#site = built.site;
    this.#book = built.book;
    this.#neighbors = built.neighbors;
    this.#links = built.links;
    const slices = new Slices(ctx.clock);
    for (const { key, value } of built.book.items()) {
      ctx.txn.put(key, value);
      if (slices.due()) await slices.turn();
    }
    await this.#announce(ctx, built.site);
    await this.#tracePackets(ctx);
  }

  /** Builds everything anew beside what is there, so that nobody ever sees half of it. */
  async #build(ctx: ResyncContext): Promise<Built> {
    const { nodes, pods, nodeName } = this.#deps;
    const slices = new Slices(ctx.clock);
    const site = await this.#lookout.look(ctx);
    const book = new ItemBook();
    book.set(part.base, baseItems(site));

    const neighbors = new Neighbors(waysOf(site));
    const others = [...nodes.allNodes().values()].filter(({ name }) => name !== nodeName);
    for (const node of others) neighbors.set(node.name, node);
    for (const { name } of others) {
      book.set(part.node(name), itemsOfNode(site, neighbors, name));
      tellConflict(ctx, neighbors, name);
      if (slices.due()) await slices.turn();
    }
    book.set(part.overlay, overlayItems(site, neighbors.ids()));

    const links = new PodLinks();
    for (const attachment of pods.attachments().values()) {
      const id = attachmentId(attachment);
      const [address] = this.#deps.ipam.podAddresses(id);
      // nothing is configured through a path that leads elsewhere by now
      if (address === undefined || pods.isDisplaced(id)) continue;
      book.set(part.pod(id), podItems(site, attachment, address));
      links.set(site, attachment);
      if (slices.due()) await slices.turn();
    }
    return { site, book, neighbors, links };
  }

  async update(ctx: UpdateContext): Promise<UpdateResult> {
    const { event } = ctx;
    if (KubeStateChange.is(event)) {
      const { resource, key, current } = event.payload;
      if (current) warnOfResource(ctx.log, resource, key);
      return {};
    }
    if (AddPod.is(event)) return this.#addPod(ctx, event.payload);
    if (DeletePod.is(event)) return this.#deletePod(ctx, attachmentId(event.payload));
    if (NodeUpdate.is(event))
      return event.payload.nodeName === this.#deps.nodeName
        ? this.#ownNodeUpdate(ctx)
        : this.#nodeUpdate(ctx, event.payload);
    if (Shutdown.is(event) && event.payload.cleanup) {
      this.#book.deleteAll(ctx.txn);
      return { change: 'remove all that was configured' };
    }
    return {};
  }

  revert(ctx: RevertContext): void {
    const undo = this.#undo;
    this.#undo = undefined;
    if (!undo || !AddPod.is(ctx.event)) return;
    const { id, attachment, items } = undo;
    if (attachmentId(ctx.event.payload) !== id) return;
    this.#links.delete(id);
    this.#book.set(part.pod(id), items);
    if (attachment) this.#links.set(this.#known, attachment);
  }

  nodeAddress(): string | undefined {
    return this.#site?.main.addresses[0];
  }

  defaultGateway(): string {
    return this.#site?.defaultGateway ?? '';
  }

  hostAddresses(): readonly string[] {
    return this.#site?.hostAddresses ?? [];
  }

  mainInterface(): string {
    return mainInterfaceName(this.#known);
  }

  leasedInterface(): string | undefined {
    const main = this.#site?.main;
    return main?.useDhcp ? main.name : undefined;
  }

  otherInterfaces(): readonly string[] {
    return this.#known.others.map(({ name }) => name);
  }

  hostInterconnect(): string {
    return hostInterconnectName(this.#known);
  }

  vxlanBvi(): string | undefined {
    return this.#known.routing.transport === 'vxlan' ? VXLAN_BVI : undefined;
  }

  podKeys(attachment: AttachmentId): readonly string[] {
    return this.#book.part(part.pod(attachment)).map(({ key }) => key);
  }

  podInterfaces(attachment: AttachmentId): PodInterfaceNames | undefined {
    return this.#links.names(attachment);
  }

  podByInterface(vppInterface: string): Attachment | undefined {
    return this.#links.behind(vppInterface);
  }

  describeInternalData(): string {
    const { addresses: _, ...site } = this.#site ?? {};
    return JSON.stringify({
      site,
      neighbors: this.#neighbors.ids(),
      wired: this.#links.entries(),
    });
  }

  get #known(): Site {
    if (!this.#site) throw new AbortEventError('interfaces are not known before the first resync');
    return this.#site;
  }

  /** With each look at VPP: it may have been started anew. What it lacks harms nobody. */
  async #tracePackets(ctx: ResyncContext): Promise<void> {
    const full = ctx.event.kind.method(ctx.event.payload) === EventMethod.FullResync;
    if (!full || !this.#deps.conf.packetTrace()) return;
    try {
      const said = await ctx.ask('vpp/trace packets', () => this.#deps.vpp.tracePackets());
      ctx.log.info({ said }, 'VPP traces packets: look with vppctl show trace');
    } catch (cause) {
      ctx.log.warn({ err: cause }, 'VPP does not trace packets');
    }
  }

  /** Tells the other nodes where this one is reached. */
  async #announce(ctx: ResyncContext, site: Site): Promise<void> {
    const families = new Set(site.main.addresses.map(familyOf));
    for (const family of [4, 6] as const) {
      if (!families.has(family) && family !== site.family) continue;
      const addresses = site.main.addresses.filter((address) => familyOf(address) === family);
      await this.#deps.nodes.publishAddresses(ctx, addresses, family);
    }
  }

  /** Kubernetes knows this node by other addresses: then the host has others, as a rule. */
  async #ownNodeUpdate(ctx: UpdateContext): Promise<UpdateResult> {
    const before = this.#known;
    const hostAddresses = await this.#lookout.hostAddresses(ctx, before.family);
    if (hostAddresses.join() === before.hostAddresses.join()) return {};
    const site = { ...before, hostAddresses };
    this.#site = site;
    this.#book.change(ctx.txn, part.base, baseItems(site));
    return { change: `addresses of the host: ${hostAddresses.join(', ') || 'none'}` };
  }

  #nodeUpdate(ctx: UpdateContext, { nodeName, current }: NodeUpdatePayload): UpdateResult {
    const site = this.#known;
    const before = this.#neighbors.ids();
    for (const name of this.#neighbors.set(nodeName, current)) {
      const items = itemsOfNode(site, this.#neighbors, name);
      this.#book.change(ctx.txn, part.node(name), items);
      tellConflict(ctx, this.#neighbors, name);
    }
    const after = this.#neighbors.ids();
    if (before.join() !== after.join())
      this.#book.change(ctx.txn, part.overlay, overlayItems(site, after));
    const reached = this.#neighbors.reached(nodeName);
    return { change: reached ? `way to node ${nodeName}` : `no way to node ${nodeName}` };
  }

  async #addPod(ctx: UpdateContext, payload: AddPodPayload): Promise<UpdateResult> {
    const site = this.#known;
    const id = attachmentId(payload);
    const attachment = this.#deps.pods.attachments().get(id);
    const [address] = this.#deps.ipam.podAddresses(id);
    this.#undo = undefined;
    if (!attachment || address === undefined)
      throw new PodAddressError('the pod has no address', { where: podIdText(payload.pod) });
    warnOfPod(ctx.log, ctx.kubeState, attachment.pod);
    const { networkNamespace } = attachment;
    if (site.ipv6InPods)
      await ctx.ask(`host/enable IPv6 ${networkNamespace}`, () =>
        this.#deps.host.enableIpv6(networkNamespace),
      );
    const items = podItems(site, attachment, address);
    this.#undo = {
      id,
      attachment: this.#links.attachment(id),
      items: this.#book.part(part.pod(id)),
    };
    this.#book.change(ctx.txn, part.pod(id), items);
    // all of it, even if nothing changed: only then does the answer tell whether the pod is wired
    this.#book.putPart(ctx.txn, part.pod(id));
    this.#links.set(site, attachment);
    return {
      change: `wire ${podIdText(attachment.pod)} with ${address}`,
      reply: podReply(site, attachment, address),
    };
  }

  #deletePod(ctx: UpdateContext, id: AttachmentId): UpdateResult {
    if (!this.#links.names(id)) return {};
    this.#book.change(ctx.txn, part.pod(id), []);
    this.#links.delete(id);
    return { change: `unwire ${id}` };
  }
}

const noWays: Ways = { own: '', addressOf: () => undefined, obstacle: () => undefined };

function waysOf(site: Site): Ways {
  return {
    own: nodeIp(site) ?? '',
    addressOf: (node) => reachableAt(site, node),
    obstacle: (node) => obstacleTo(site, node),
  };
}

function baseItems(site: Site): Item[] {
  return [...nicItems(site), ...hostItems(site), ...stnItems(site), ...vrfItems(site)];
}

function itemsOfNode(site: Site, neighbors: Neighbors, name: string): Item[] {
  const neighbor = neighbors.reached(name);
  return neighbor ? nodeItems(site, neighbor.node, neighbor.address) : [];
}

function tellConflict(
  ctx: ResyncContext | UpdateContext,
  neighbors: Neighbors,
  name: string,
): void {
  const conflict = neighbors.conflict(name);
  if (conflict) ctx.log.error({ node: name }, `node ${name} cannot be reached: ${conflict}`);
}
