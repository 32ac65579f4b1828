/** Lists of rules: equal lists are the same object, however many ACLs have them, as long as one of them has it. */
import type { AclRule } from '#models/vpp/acl.ts';

/** A list that is made only if there is no equal one. */
export interface RuleSource {
  /** Equal for equal lists. */
  readonly text: string;
  readonly make: () => readonly AclRule[];
}

const lists = new Map<string, WeakRef<readonly AclRule[]>>();

const unused = new FinalizationRegistry<string>((text) => {
  if (lists.get(text)?.deref() === undefined) lists.delete(text);
});

export function ruleList({ text, make }: RuleSource): readonly AclRule[] {
  const known = lists.get(text)?.deref();
  if (known !== undefined) return known;
  const rules = Object.freeze(make());
  lists.set(text, new WeakRef(rules));
  unused.register(rules, text);
  return rules;
}
