/** Errors about addresses in node records that are not used. Each is logged when it is found. */
import type { Slices } from '#infra/clock/slices.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Node } from './api.ts';
import { nodeAddressError, ownAddressesOf } from './node-addresses.ts';
import type { NodeTable } from './node-table.ts';

export interface CheckedNodes {
  readonly own: Node;
  readonly table: Pick<NodeTable, 'invalid' | 'node' | 'nodes'>;
  /** An error about the ID of this node. */
  readonly ownIdError: CodedError | undefined;
  readonly slices: Slices;
  readonly log: Pick<Logger, 'error'>;
}

export class AddressProblems {
  /** By key of a record, or name of a node. */
  #found: Map<string, readonly CodedError[]>;
  /** This node when all others were last compared with it. */
  #own: Node | undefined;

  /** @param before those of the last resync, which are logged already */
  constructor(before?: AddressProblems) {
    this.#found = new Map(before ? before.#found : []);
  }

  /** Each message once. */
  all(): readonly CodedError[] {
    const byText = new Map([...this.#found.values()].flat().map((error) => [error.message, error]));
    return [...byText.values()];
  }

  async checkAll({ own, table, ownIdError, slices, log }: CheckedNodes): Promise<void> {
    const found = new Map<string, readonly CodedError[]>();
    for (const [key, error] of table.invalid()) found.set(key, [error]);
    for (const [name, node] of table.nodes()) {
      const errors = name === own.name ? [] : sharedAddressErrors(own, node);
      if (errors.length > 0) found.set(name, errors);
      if (slices.due()) await slices.turn();
    }
    if (ownIdError !== undefined) found.set(own.name, [ownIdError]);
    logNew(log, [...found.values()].flat(), [...this.#found.values()].flat());
    this.#found = found;
    this.#own = own;
  }

  /**
   * Checks a changed record and the nodes that it affects; all if the addresses of this node have changed.
   * @param key of the record
   */
  async check(nodes: CheckedNodes, key: string, names: readonly string[]): Promise<void> {
    const { own, table, log } = nodes;
    if (!this.#own || !hasSameAddresses(this.#own, own)) {
      await this.checkAll(nodes);
      return;
    }
    const invalid = table.invalid().get(key);
    this.#set(log, key, invalid ? [invalid] : []);
    for (const name of names) {
      const node = table.node(name);
      if (name !== own.name) this.#set(log, name, node ? sharedAddressErrors(own, node) : []);
    }
  }

  #set(log: CheckedNodes['log'], subject: string, errors: readonly CodedError[]): void {
    logNew(log, errors, this.#found.get(subject) ?? []);
    if (errors.length > 0) this.#found.set(subject, errors);
    else this.#found.delete(subject);
  }
}

function sharedAddressErrors(own: Node, other: Node): CodedError[] {
  return ownAddressesOf(own, other).map((address) =>
    nodeAddressError(other.name, `${address} is an address of this node`, address),
  );
}

function logNew(
  log: CheckedNodes['log'],
  errors: readonly CodedError[],
  before: readonly CodedError[],
): void {
  const known = new Set(before.map(({ message }) => message));
  for (const err of errors) if (!known.has(err.message)) log.error({ err }, err.message);
}

function hasSameAddresses(a: Node, b: Node): boolean {
  return (
    a.vppAddresses.join() === b.vppAddresses.join() &&
    a.managementAddresses.join() === b.managementAddresses.join()
  );
}
