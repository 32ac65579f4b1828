/** The rules because of which the ports of a pair change, by tier, policy and position. */
import { familyOf } from '../address-set.ts';
import {
  decidingRules,
  type PolicyDirection,
  type RuleAction,
  type RuleList,
} from '../pod-policy.ts';
import type { PortSet } from '../port-set.ts';
import { type ChangedConnection, type Party, partiesOf } from './connections.ts';
import { ruleText } from './rule-document.ts';

/** The rules that deny now, that accept now, and that denied before. */
export function changeReasons({ from, to, before, after }: ChangedConnection): string[] {
  const lost = before.minus(after);
  const gained = after.minus(before);
  const [old, next] = [0, 1].map((state) => partiesOf(state, from, to));
  return [
    ...new Set([
      ...rulesAbout(next, lost, 'Deny'),
      ...rulesAbout(next, gained, 'Accept'),
      ...rulesAbout(old, gained, 'Deny').map((text) => `before: ${text}`),
    ]),
  ];
}

function rulesAbout(
  parties: readonly [Party, Party] | undefined,
  ports: PortSet,
  action: RuleAction,
): string[] {
  if (parties === undefined || ports.isEmpty) return [];
  const [sender, receiver] = parties;
  return [
    ...textsOf(sender.egress, receiver, 'egress'),
    ...textsOf(receiver.ingress, sender, 'ingress'),
  ];

  function textsOf(list: RuleList, other: Party, direction: PolicyDirection): string[] {
    const own = direction === 'egress' ? sender : receiver;
    return other.addresses
      .filter((address) => own.addresses.some((one) => familyOf(one) === familyOf(address)))
      .flatMap((address) => decidingRules(list, address))
      .filter((found) => found.rule.action === action && !found.ports.intersect(ports).isEmpty)
      .map(({ rule }) => ruleText(rule, direction));
  }
}
