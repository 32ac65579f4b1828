import type { AclRule } from '#models/vpp/acl.ts';
import { aclModel } from '#models/vpp/acl.ts';
import type { RuleInput } from './acl-rules.ts';

interface RuleList {
  readonly rules: readonly AclRule[];
  users: number;
}

/** Canonical lists of rules: equal lists are the same object, however many ACLs have them. */
export class RuleLists {
  readonly #lists = new Map<string, RuleList>();

  /** @param text equal for equal lists @param make is called if no ACL has the list yet */
  take(text: string, make: () => readonly RuleInput[]): readonly AclRule[] {
    const known = this.#lists.get(text);
    if (known !== undefined) {
      known.users++;
      return known.rules;
    }
    const { rules } = aclModel.canonical({ name: 'rules', rules: make() });
    this.#lists.set(text, { rules, users: 1 });
    return rules;
  }

  release(text: string): void {
    const list = this.#lists.get(text);
    if (list === undefined) return;
    list.users--;
    if (list.users === 0) this.#lists.delete(text);
  }
}
