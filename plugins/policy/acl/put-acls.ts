import { isDeepStrictEqual } from 'node:util';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { DeepInput } from '#models/model.ts';
import { type Acl, aclKey, aclModel } from '#models/vpp/acl.ts';
import type { ResyncTransaction, UpdateTransaction } from '#plugins/controller/api/transaction.ts';
import type { AclNames } from './acl-names.ts';
import { reflectedTable, reflectingRules, tableRules } from './acl-rules.ts';
import { withoutSessionRules } from './exceptional-rules.ts';
import { RuleLists, type RuleSource } from './rule-lists.ts';
import { permitAll, type Table, tableText } from './table.ts';

/** The table at the output of interfaces, which all get the same two ACLs. */
export interface BoundTable {
  readonly names: AclNames;
  readonly interfaces: readonly string[];
  readonly table: Table;
  /** Network whose packets make no session at the input of the interfaces. */
  readonly withoutSessions?: string;
  /** Rules at the input of the interfaces that precede all others. */
  readonly first: RuleSource;
}

interface PutAcl {
  /** Equal for equal rules. */
  readonly rulesText: string;
  readonly value: Acl;
}

/** The ACLs that were put. */
export class PutAcls {
  readonly #lists = new RuleLists();
  /** By key. */
  readonly #acls = new Map<string, PutAcl>();

  /**
   * Puts those of both ACLs that have changed. They are configured in the order of their names, the table first:
   * while it is stricter than the rules at the input, replies make no session.
   * @param isForced also those that have not changed
   */
  put(txn: ResyncTransaction, bound: BoundTable, isForced = false): void {
    const { names, interfaces, table, withoutSessions = '', first } = bound;
    this.#put(
      txn,
      { name: names.output, interfaces: { egress: interfaces } },
      { text: `table\n${tableText(table)}`, make: () => tableRules(table) },
      isForced,
    );
    const reflected = reflectedTable(table);
    this.#put(
      txn,
      { name: names.input, interfaces: { ingress: interfaces } },
      {
        text: `reflecting ${withoutSessions} ${first.text}\n${tableText(reflected)}`,
        make: () => [
          ...first.make(),
          ...withoutSessionRules(withoutSessions),
          ...reflectingRules(reflected),
        ],
      },
      isForced,
    );
  }

  /** Puts an ACL at the input of interfaces, which permits what the rules do not deny. */
  putInput(
    txn: ResyncTransaction,
    name: string,
    interfaces: readonly string[],
    { text, make }: RuleSource,
  ): void {
    this.#put(
      txn,
      { name, interfaces: { ingress: interfaces } },
      { text: `input ${text}`, make: () => [...make(), ...tableRules([permitAll])] },
      false,
    );
  }

  delete(txn: UpdateTransaction, names: readonly string[]): void {
    for (const name of names) {
      const key = aclKey.build({ name });
      const before = this.#acls.get(key);
      if (before === undefined) continue;
      this.#lists.release(before.rulesText);
      this.#acls.delete(key);
      txn.delete(key);
    }
  }

  keys(): Iterable<string> {
    return this.#acls.keys();
  }

  valuesOf(names: readonly string[]): [string, Value][] {
    return names.flatMap((name) => {
      const key = aclKey.build({ name });
      const acl = this.#acls.get(key);
      return acl === undefined ? [] : [[key, acl.value] as [string, Value]];
    });
  }

  #put(
    txn: ResyncTransaction,
    acl: Pick<DeepInput<Acl>, 'name' | 'interfaces'>,
    rules: RuleSource,
    isForced: boolean,
  ): void {
    const bound = aclModel.canonical(acl);
    const key = aclModel.key(bound);
    const before = this.#acls.get(key);
    const isSame =
      before?.rulesText === rules.text &&
      isDeepStrictEqual(before.value.interfaces, bound.interfaces);
    if (isSame) {
      if (isForced) txn.put(key, before.value);
      return;
    }
    const value = Object.freeze({ ...bound, rules: this.#lists.take(rules) });
    if (before !== undefined) this.#lists.release(before.rulesText);
    this.#acls.set(key, { rulesText: rules.text, value });
    txn.put(key, value);
  }
}
