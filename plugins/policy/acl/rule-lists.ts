import type { AclRule } from '#models/vpp/acl.ts';

/** A list that is made only if it is new. */
export interface RuleSource {
  /** Equal for equal lists. */
  readonly text: string;
  readonly make: () => readonly AclRule[];
}

interface RuleList {
  readonly rules: readonly AclRule[];
  users: number;
}

/** Lists of rules: equal lists are the same object, however many ACLs have them. */
export class RuleLists {
  readonly #lists = new Map<string, RuleList>();

  take({ text, make }: RuleSource): readonly AclRule[] {
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
