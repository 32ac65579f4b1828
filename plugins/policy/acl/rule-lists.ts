import type { AclRule } from '#models/vpp/acl.ts';

interface RuleList {
  readonly rules: readonly AclRule[];
  users: number;
}

/** Lists of rules: equal lists are the same object, however many ACLs have them. */
export class RuleLists {
  readonly #lists = new Map<string, RuleList>();

  /** @param text equal for equal lists @param make is called if no ACL has the list yet */
  take(text: string, make: () => readonly AclRule[]): readonly AclRule[] {
    const list = this.#lists.get(text) ?? { rules: Object.freeze(make()), users: 0 };
    this.#lists.set(text, list);
    list.users++;
    return list.rules;
  }

  release(text: string): void {
    const list = this.#lists.get(text);
    if (list === undefined) return;
    list.users--;
    if (list.users === 0) this.#lists.delete(text);
  }
}
