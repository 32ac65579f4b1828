/** The nodes of the cluster: IDs, VPP addresses, management addresses. */
import type { Wireguard } from '#kubernetes/models/vpp-node.ts';
import {
  Direction,
  defineEvent,
  EventMethod,
  TransactionType,
} from '#plugins/controller/api/event.ts';
import type { ResyncContext, UpdateContext } from '#plugins/controller/api/event-handler.ts';

export {
  type AddressRefusal,
  AddressRules,
  addressReasons,
  addressRefusal,
  addressUses,
  type OwnNetwork,
  whyNoHost,
} from './address-rules.ts';
export { NamesByAddress } from './names-by-address.ts';
export {
  addressProblem,
  type NodeProblem,
  NodeProblems,
  nodeNameProblem,
  unreachableProblem,
} from './node-problems.ts';

/** A node as its records describe it. Those of other nodes are untrusted: see `AddressRules`. */
export interface Node {
  /** Positive; unique in the cluster. Nodes without an ID are not returned. */
  readonly id: number;
  readonly name: string;
  /** CIDRs of the VPP side, for example `192.168.16.1/24`. */
  readonly vppAddresses: readonly string[];
  /** Addresses of the Node object, without prefix length. */
  readonly managementAddresses: readonly string[];
  /** Pod CIDR of the Node object; empty if unknown. */
  readonly podCidr: string;
  /** Name of the Node object that differs from the name of the node only in case: it has none of its own. */
  readonly namesake?: string;
  /** Its keys as it has published them; absent: it does not encrypt. */
  readonly wireguard?: Wireguard;
}

export interface NodeSyncApi {
  /** @throws FatalError before the first resync has allocated the ID */
  thisNode(): Node;
  /** All nodes that have an ID, by name, including this one. */
  allNodes(): ReadonlyMap<string, Node>;
  /**
   * The VPP addresses of this node, for the others. They are published when no handler has aborted the resync: only
   * changes are written; while the database is unavailable nothing is written, and the next resync from it
   * publishes them.
   * @param addresses CIDRs of one family; addresses of the other family are unchanged
   */
  publishAddresses(
    ctx: Pick<ResyncContext, 'onSuccess'>,
    addresses: readonly string[],
    family: 4 | 6,
  ): void;
  /** Of the same record: the public keys of this node. @param wireguard undefined: it does not encrypt */
  publishKeys(ctx: Pick<ResyncContext, 'onSuccess'>, wireguard: Wireguard | undefined): void;
  /** Whether the other nodes can read what was published last. */
  isPublished(): boolean;
}

/** The part of a handler's context that calls of other plugins need to call ports. */
export type PortContext = Pick<UpdateContext, 'callPort' | 'clock' | 'log'>;

export interface NodeUpdatePayload {
  readonly nodeName: string;
  /** undefined: the node has joined. */
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
