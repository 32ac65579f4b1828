/**
 * Pods of other nodes with addresses that belong to the ID of this one: two nodes give out one
 * network, as when the cluster has lost its datastore and a node was given the ID of another. Nobody
 * but a human can tell which of them is right, so that is an alarm and nothing else.
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
    'Drain one of the two nodes, delete its record under allocatedIDs and its local store, and start its agent again.',
});

export interface OverlapContext {
  readonly own: Node;
  /** All nodes; asked only where an address is in the wrong place, for it costs a walk over them. */
  readonly others: () => ReadonlyMap<string, Node>;
  /** Says under which ID an address was given out. */
  readonly idOf: (address: string) => number | undefined;
  readonly log: Pick<Logger, 'error'>;
}

export class AddressOverlaps {
  /** Key of the Pod record to its node. */
  #found = new Map<string, string>();

  get count(): number {
    return this.#found.size;
  }

  /** Looks at everything anew; what was told already is not told again. */
  async checkAll(around: OverlapContext, state: KubeState, slices: Slices): Promise<void> {
    const before = this.#found;
    const found = new Map<string, string>();
    for (const [key, value] of state.get('pod') ?? []) {
      this.#addIfOverlapping(around, found, key, value as Pod, before.has(key));
      if (slices.due()) await slices.turn();
    }
    this.#found = found;
  }

  /** @param pod undefined: the record is gone */
  check(around: OverlapContext, key: string, pod: Pod | undefined): void {
    const told = this.#found.delete(key);
    if (pod) this.#addIfOverlapping(around, this.#found, key, pod, told);
  }

  #addIfOverlapping(
    around: OverlapContext,
    found: Map<string, string>,
    key: string,
    pod: Pod,
    told: boolean,
  ): void {
    const { own, idOf, log } = around;
    // the cheap question first: most pods of other nodes are where they belong
    if (pod.ip_address === '' || idOf(pod.ip_address) !== own.id) return;
    const node = otherNode(around, pod.host_ip_address);
    if (node === undefined) return;
    found.set(key, node);
    if (told) return;
    const text = `pod ${pod.namespace}/${pod.name} of node ${node} has an address of node ${own.name}`;
    log.error({ err: new AddressOverlapError(text, { where: pod.ip_address }), node }, text);
  }
}

/** Name of the node with this address; undefined for this one and for strangers. */
function otherNode({ own, others }: OverlapContext, address: string): string | undefined {
  if (address === '' || own.managementAddresses.includes(address)) return undefined;
  for (const { name, managementAddresses } of others().values())
    if (name !== own.name && managementAddresses.includes(address)) return name;
  return undefined;
}
