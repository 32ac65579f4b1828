/**
 * Pods of other nodes with addresses of this node: two nodes allocate from one subnet, for example
 * if the cluster has lost its datastore and a node got the ID of another one. Only an operator can
 * decide which node is right, so overlaps are only reported.
 */

import type { Slices } from '#infra/clock/slices.ts';
import { defineError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { Node } from './api.ts';

export const AddressOverlapError = defineError({
  name: 'AddressOverlapError',
  code: 'CV_NODESYNC_OVERLAP',
  remedy:
    'Drain one of the two nodes, delete its record under allocatedIDs and its local store, and restart its agent.',
});

export interface OverlapContext {
  readonly own: Node;
  /** All nodes; called only for an overlapping address, because it iterates over all nodes. */
  readonly others: () => ReadonlyMap<string, Node>;
  /** ID of the node that owns an address. */
  readonly idOf: (address: string) => number | undefined;
  readonly log: Pick<Logger, 'error'>;
}

export class AddressOverlaps {
  /** Key of the Pod record to its node. */
  #found: Map<string, string>;

  /** @param before those of the last resync, which are reported already */
  constructor(before?: AddressOverlaps) {
    this.#found = new Map(before ? before.#found : []);
  }

  get count(): number {
    return this.#found.size;
  }

  /** Checks all Pod records; overlaps that were reported already are not reported again. */
  async checkAll(context: OverlapContext, state: KubeState, slices: Slices): Promise<void> {
    const before = this.#found;
    const found = new Map<string, string>();
    for (const [key, value] of state.get('pod') ?? []) {
      this.#addIfOverlapping(context, found, key, value as Pod, before.has(key));
      if (slices.due()) await slices.turn();
    }
    this.#found = found;
  }

  /** Checks one Pod record. @param pod undefined: the record was deleted */
  check(context: OverlapContext, key: string, pod: Pod | undefined): void {
    const isReported = this.#found.delete(key);
    if (pod) this.#addIfOverlapping(context, this.#found, key, pod, isReported);
  }

  #addIfOverlapping(
    context: OverlapContext,
    found: Map<string, string>,
    key: string,
    pod: Pod,
    isReported: boolean,
  ): void {
    const { own, idOf } = context;
    // the cheap check first: most pods of other nodes have addresses of their node
    if (pod.ip_address === '' || idOf(pod.ip_address) !== own.id) return;
    const node = otherNode(context, pod.host_ip_address);
    if (node === undefined) return;
    found.set(key, node);
    if (isReported) return;
    const text = `pod ${pod.namespace}/${pod.name} of node ${node} has an address of node ${own.name}`;
    context.log.error(
      { err: new AddressOverlapError(text, { where: pod.ip_address }), node },
      text,
    );
  }
}

/** Name of the node with this address; undefined for this node and for unknown addresses. */
function otherNode({ own, others }: OverlapContext, address: string): string | undefined {
  if (address === '' || own.managementAddresses.includes(address)) return undefined;
  for (const { name, managementAddresses } of others().values())
    if (name !== own.name && managementAddresses.includes(address)) return name;
  return undefined;
}
