/** Values that connect this node, its pods and the other nodes, in groups, and what they follow from. */

import { Slices } from '#infra/clock/slices.ts';
import type { ResyncContext, UpdateContext } from '#plugins/controller/api/event-handler.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import { type Attachment, attachmentId, type PodManagerApi } from '#plugins/podmanager/api.ts';
import { hostLinkValues } from './host-link.ts';
import { valueGroup } from './names.ts';
import { nicValues } from './nics.ts';
import { type NodeInput, nodeIp } from './node-input.ts';
import { overlayValues, reachableAt, remoteNodeValues, whyUnreachable } from './overlay.ts';
import { podValues } from './pod.ts';
import { PodLinks } from './pod-links.ts';
import { type Reachability, ReachableNodes } from './reachable-nodes.ts';
import { segmentationValues } from './segmentation.ts';
import { stnValues } from './stn.ts';
import { TunnelMembers } from './tunnel-members.ts';
import { vrfValues } from './vrfs.ts';

export interface Wiring {
  /** An update replaces it when the addresses of the host have changed. */
  input: NodeInput;
  readonly reachable: ReachableNodes;
  readonly tunnels: TunnelMembers;
  readonly links: PodLinks;
}

export interface WiringDeps {
  readonly nodeName: string;
  readonly nodes: NodeSyncApi;
  readonly pods: PodManagerApi;
  readonly ipam: IpamApi;
}

/** Puts the values of the wiring with all other nodes and all pods that are known now. */
export async function wiringOf(
  input: NodeInput,
  deps: WiringDeps,
  ctx: ResyncContext,
): Promise<Wiring> {
  const { nodeName, nodes } = deps;
  const slices = new Slices(ctx.clock);
  ctx.txn.replace(valueGroup.base, baseValues(input));

  const reachable = new ReachableNodes(reachabilityOf(input));
  const tunnels = new TunnelMembers();
  const others = [...nodes.allNodes().values()].filter(({ name }) => name !== nodeName);
  for (const node of others) reachable.set(node.name, node);
  for (const { name } of others) {
    ctx.txn.replace(valueGroup.node(name), valuesOfNode(input, reachable, name));
    logConflict(ctx, reachable, name);
    if (slices.due()) await slices.turn();
  }
  ctx.txn.replace(valueGroup.overlay, overlayValues(input, tunnels.of(reachable.ids())));

  const links = new PodLinks(ctx.journal);
  for (const [attachment, values] of wiredPods(input, deps)) {
    ctx.txn.replace(valueGroup.pod(attachmentId(attachment)), values);
    links.set(input, attachment);
    if (slices.due()) await slices.turn();
  }
  return { input, reachable, tunnels, links };
}

/** The pods of this node that can be wired, with their values. */
export function* wiredPods(
  input: NodeInput,
  { pods, ipam }: Pick<WiringDeps, 'pods' | 'ipam'>,
): Generator<readonly [Attachment, readonly KeyValue[]], void, void> {
  for (const attachment of pods.attachments().values()) {
    const id = attachmentId(attachment);
    const [address] = ipam.podAddresses(id);
    const isKept = attachment.networkNamespace === '';
    // nothing is configured through a path that leads to another namespace now
    if ((address === undefined && !isKept) || pods.isDisplaced(id)) continue;
    yield [attachment, podValues(input, attachment, address)];
  }
}

function reachabilityOf(input: NodeInput): Reachability {
  return {
    ownAddress: nodeIp(input) ?? '',
    addressOf: (node) => reachableAt(input, node),
    whyUnreachable: (node) => whyUnreachable(input, node),
  };
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

export function valuesOfNode(
  input: NodeInput,
  reachable: ReachableNodes,
  name: string,
): KeyValue[] {
  const found = reachable.find(name);
  return found ? remoteNodeValues(input, found.node, found.address) : [];
}

export function logConflict(
  ctx: ResyncContext | UpdateContext,
  reachable: ReachableNodes,
  name: string,
): void {
  const conflict = reachable.conflict(name);
  if (conflict) ctx.log.error({ node: name }, `node ${name} cannot be reached: ${conflict}`);
}
