/** The ACLs of interfaces, as values. */
import type { DeepInput } from '#models/model.ts';
import { type Acl, aclModel } from '#models/vpp/acl.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { AclNames } from './acl-names.ts';
import { reflectedTable, reflectingRules, tableRules } from './acl-rules.ts';
import { withoutSessionRule } from './exceptional-rules.ts';
import { type KeptConnection, keptRules } from './kept-connections.ts';
import { type RuleSource, ruleList } from './rule-lists.ts';
import { isPermitAll, permitAll, type Table, tableText } from './table.ts';

/** The table at the output of interfaces, which all get the same two ACLs, or none. */
export interface BoundTable {
  readonly names: AclNames;
  readonly interfaces: readonly string[];
  readonly table: Table;
  /** Whether packets of IPv6 meet the table. */
  readonly hasIpv6: boolean;
  /** Networks whose packets make no session at the input of the interfaces. */
  readonly withoutSessions?: readonly string[];
  /** Rules at the input of the interfaces that precede all others. */
  readonly first: RuleSource;
  /** Connections that were open before the interfaces had the table. */
  readonly kept: readonly KeptConnection[];
}

/**
 * None where the table permits everything, and no rules precede it: every packet pays for an ACL. Both are configured in
 * the order of their names, the table first: while it is stricter than the rules at the input, replies make no session.
 */
export function boundAcls(bound: BoundTable): KeyValue[] {
  const { names, interfaces, table, hasIpv6, withoutSessions = [], first, kept } = bound;
  if (isPermitAll(table))
    return first.text === '' ? [] : [inputAcl(names.input, interfaces, first)];
  const reflected = reflectedTable(table);
  const keeping = keptRules(kept);
  const families = hasIpv6 ? 'with IPv6' : '';
  return [
    aclValue(
      { name: names.output, interfaces: { egress: interfaces } },
      {
        text: `table ${families} ${keeping.text}\n${tableText(table)}`,
        make: () => [...keeping.make(), ...tableRules(table, hasIpv6)],
      },
    ),
    aclValue(
      { name: names.input, interfaces: { ingress: interfaces } },
      {
        text: `reflecting ${families} ${withoutSessions.join()} ${first.text}\n${tableText(reflected)}`,
        make: () => [
          ...first.make(),
          ...withoutSessions.map(withoutSessionRule),
          ...reflectingRules(reflected, hasIpv6),
        ],
      },
    ),
  ];
}

/** An ACL at the input of interfaces, which permits what the rules do not deny. */
export function inputAcl(
  name: string,
  interfaces: readonly string[],
  { text, make }: RuleSource,
): KeyValue {
  return aclValue(
    { name, interfaces: { ingress: interfaces } },
    { text: `input ${text}`, make: () => [...make(), ...tableRules([permitAll], false)] },
  );
}

function aclValue(acl: Pick<DeepInput<Acl>, 'name' | 'interfaces'>, rules: RuleSource): KeyValue {
  const bound = aclModel.canonical(acl);
  const value: Acl = { ...bound, rules: ruleList(rules) };
  return { key: aclModel.key(bound), value };
}
