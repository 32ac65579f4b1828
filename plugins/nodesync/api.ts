/** The nodes of the cluster: IDs, VPP addresses, management addresses. */
import {
  Direction,
  defineEvent,
  EventMethod,
  TransactionType,
} from '#plugins/controller/api/event.ts';
import type { UpdateContext } from '#plugins/controller/api/event-handler.ts';

export interface Node {
  /** Positive; unique in the cluster. Nodes that have none yet are not given out. */
  readonly id: number;
  readonly name: string;
  /** CIDRs of the VPP side, for example `192.168.16.1/24`. */
  readonly vppAddresses: readonly string[];
  /** Plain addresses under which Kubernetes knows the node. */
  readonly managementAddresses: readonly string[];
  /** As the Node object has it; empty when unknown. */
  readonly podCidr: string;
}

export interface NodeSyncApi {
  /** @throws FatalError before the first resync has allocated the ID */
  thisNode(): Node;
  /** All nodes that have an ID, by name, this one included. */
  allNodes(): ReadonlyMap<string, Node>;
  /**
   * Announces the VPP addresses of this node to the others. Written only when they changed; while
   * the database is out of reach nothing is written: the next resync from it makes up for that.
   * @param addresses CIDRs of one family; those of the other family are kept
   * @throws FatalError when another node has taken the ID of this one
   */
  publishAddresses(ctx: PortContext, addresses: readonly string[], family: 4 | 6): Promise<void>;
}

/** The part of a handler's context that a call across plugins needs for its input and output. */
export type PortContext = Pick<UpdateContext, 'callPort' | 'clock' | 'log'>;

export interface NodeUpdatePayload {
  readonly nodeName: string;
  /** undefined: the node has just joined. */
  readonly previous: Node | undefined;
  /** undefined: the node has left. */
  readonly current: Node | undefined;
}

export const NodeUpdate = defineEvent<NodeUpdatePayload>({
  id: 'node-update',
  blocking: false,
  name: 'Node Update',
  describe: (payload) => `Node Update\n* node: ${payload.nodeName}`,
  method: EventMethod.Update,
  transactionType: TransactionType.BestEffort,
  direction: Direction.Forward,
});
