/** Values that connect this node, its pods and the other nodes, in groups, and what they follow from. */

import { Slices } from '#infra/clock/slices.ts';
import type {
  KubeState,
  ResyncContext,
  UpdateContext,
} from '#plugins/controller/api/event-handler.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import {
  addressProblem,
  type Node,
  type NodeProblem,
  type NodeProblems,
  type NodeSyncApi,
  nodeNameProblem,
  unreachableProblem,
  whyNoHost,
} from '#plugins/nodesync/api.ts';
import { type Attachment, attachmentId, type PodManagerApi } from '#plugins/podmanager/api.ts';
import { BandwidthLimits } from './bandwidth-limits.ts';
import { hostLinkValues } from './host-link.ts';
import { valueGroup } from './names.ts';
import { nicValues } from './nics.ts';
import type { NodeInput } from './node-input.ts';
import { keyProblem } from './node-key-problem.ts';
import { isInClearText, nodeWay } from './node-way.ts';
import {
  overlayValues,
  reachableAt,
  remoteNodeValues,
  whyInOneFamily,
  whyUnreachable,
} from './overlay.ts';
import { PeerKeys } from './peer-keys.ts';
import { podValues } from './pod.ts';
import { PodLinks } from './pod-links.ts';
import { ReachableNodes } from './reachable-nodes.ts';
import { RemoteAddresses } from './remote-addresses.ts';
import { segmentationValues } from './segmentation.ts';
import { stnValues } from './stn.ts';
import { TunnelMembers } from './tunnel-members.ts';
import { vrfValues } from './vrfs.ts';

export interface Wiring {
  /** An update replaces these four when the addresses of the host have changed. */
  input: NodeInput;
  remote: RemoteAddresses;
  reachable: ReachableNodes;
  keys: PeerKeys;
  readonly tunnels: TunnelMembers;
  readonly links: PodLinks;
  readonly bandwidth: BandwidthLimits;
}

export interface WiringDeps {
  readonly nodeName: string;
  readonly nodes: NodeSyncApi;
  readonly pods: PodManagerApi;
  readonly ipam: IpamApi;
  readonly vpp: Pick<VppPort, 'hasPolicers'>;
  readonly nodeProblems: NodeProblems;
}

/**
 * Puts the values of the wiring with all other nodes and all pods that are known now.
 * @param established keys of other nodes by which VPP has sessions
 */
export async function wiringOf(
  input: NodeInput,
  deps: WiringDeps,
  ctx: ResyncContext,
  established: readonly string[],
): Promise<Wiring> {
  const slices = new Slices(ctx.clock);
  ctx.txn.replace(valueGroup.base, baseValues(input));
  const tunnels = new TunnelMembers();
  const { problems, ...others } = await putOtherNodes(input, deps, ctx, slices, established);
  ctx.onSuccess(() => deps.nodeProblems.replaceAll(ctx.log, problems));
  ctx.txn.replace(valueGroup.overlay, overlayValues(input, tunnels.of(others.reachable.ids())));

  const links = new PodLinks(ctx.journal);
  const bandwidth = new BandwidthLimits(ctx.journal, deps.vpp);
  for (const [attachment, values] of wiredPods(input, deps, ctx.kubeState)) {
    ctx.txn.replace(valueGroup.pod(attachmentId(attachment)), values);
    const names = links.set(input, attachment);
    await bandwidth.put(ctx, attachment, names.vpp);
    if (slices.due()) await slices.turn();
  }
  return { input, ...others, tunnels, links, bandwidth };
}

type ProblemsByNode = ReadonlyMap<string, readonly NodeProblem[]>;
type OtherNodes = Pick<Wiring, 'input' | 'remote' | 'reachable' | 'keys'>;

/** Puts the values of all other nodes. */
export async function putOtherNodes(
  input: NodeInput,
  { nodeName, nodes }: Pick<WiringDeps, 'nodeName' | 'nodes'>,
  ctx: ResyncContext | UpdateContext,
  slices: Slices,
  established: Iterable<string>,
): Promise<Pick<Wiring, 'remote' | 'reachable' | 'keys'> & { readonly problems: ProblemsByNode }> {
  const { wireguard } = input;
  const own = (wireguard?.keys ?? []).map(({ publicKey }) => publicKey);
  const keys = new PeerKeys(own, established);
  const remote = new RemoteAddresses(input);
  const reachable = new ReachableNodes({
    addressOf: (node) => reachableAt(input, node, remote.tunnelEnds(node)),
    whyUnreachable: (node) => whyUnreachable(input, node),
    hasTunnel: (node) => wireguard === undefined || isInClearText(wireguard, node),
  });
  const all = nodes.allNodes();
  for (const [name, node] of all) {
    remote.set(name, node);
    if (name !== nodeName) {
      reachable.set(name, node);
      keys.set(name, node);
    }
    if (slices.due()) await slices.turn();
  }
  const problems = new Map<string, readonly NodeProblem[]>();
  for (const [name, node] of all) {
    const others = { input, remote, reachable, keys };
    problems.set(name, name === nodeName ? ownProblems(node) : putNode(others, ctx, node));
    if (slices.due()) await slices.turn();
  }
  return { remote, reachable, keys, problems };
}

/**
 * Puts the values of another node.
 * @returns what of its records is not used
 */
export function putNode(
  others: OtherNodes,
  { txn }: Pick<UpdateContext, 'txn'>,
  node: Node,
): NodeProblem[] {
  const { input, remote, reachable, keys } = others;
  const { name, namesake } = node;
  const found = reachable.find(name);
  const way = nodeWay(input, node, keys.of(node));
  const values = found
    ? remoteNodeValues(input, found.node, way, found.address, {
        ends: remote.tunnelEnds(node),
        sources: remote.sources(node),
        management: remote.routes(node),
      })
    : [];
  txn.replace(valueGroup.node(name), values);
  const conflict = reachable.conflict(name);
  const ignored = [
    ...remote.refusedTunnelEnds(node),
    ...(found ? remote.refusedRoutes(node) : []),
    ...(found && way.kind === 'wireguard' ? remote.refusedSources(node) : []),
  ];
  return [
    ...(namesake === undefined ? [] : [nodeNameProblem(name, namesake)]),
    ...(conflict === undefined ? [] : [unreachableProblem(name, conflict)]),
    ...(found ? inOneFamily(input, found.node) : []),
    ...(found && way.kind === 'isolated' ? [unreachableProblem(name, way.reason)] : []),
    ...(input.wireguard ? keys.refused(node).map((one) => keyProblem(name, one)) : []),
    ...ignored.map(({ address, refusal }) => addressProblem(name, address, refusal)),
  ];
}

function inOneFamily(input: NodeInput, node: Node): NodeProblem[] {
  const reason = whyInOneFamily(input, node);
  return reason === undefined ? [] : [unreachableProblem(node.name, reason)];
}

/** Addresses in the Node object of this node that none can have: it is not reached at them. */
export function ownProblems({ name, managementAddresses }: Node): NodeProblem[] {
  return managementAddresses.flatMap((address) => {
    const refusal = whyNoHost(address);
    return refusal === undefined ? [] : [addressProblem(name, address, refusal)];
  });
}

/** The pods of this node that can be wired, with their values. */
export function* wiredPods(
  input: NodeInput,
  { pods, ipam }: Pick<WiringDeps, 'pods' | 'ipam'>,
  kubeState: KubeState,
): Generator<readonly [Attachment, readonly KeyValue[]], void, void> {
  for (const attachment of pods.attachments().values()) {
    const id = attachmentId(attachment);
    const addresses = ipam.podAddresses(id);
    const isKept = attachment.networkNamespace === '';
    // nothing is configured through a path that leads to another namespace now
    if ((addresses.length === 0 && !isKept) || pods.isDisplaced(id)) continue;
    yield [attachment, podValues(input, attachment, addresses, kubeState)];
  }
}

export function baseValues(input: NodeInput): KeyValue[] {
  return [
    ...nicValues(input),
    ...segmentationValues(input),
    ...hostLinkValues(input),
    ...stnValues(input),
    ...vrfValues(input),
  ];
}
