import type { PolicyName } from '../pod-policy.ts';

/** Permits of policies that the rules of one pod, or those of the node, lack. */
export interface Omissions {
  /** There would be more rules than the limit. */
  readonly omitted: readonly PolicyName[];
  readonly withSctpPorts: ReadonlySet<PolicyName>;
  /** Whether more ports of services are denied than policies forbid. */
  readonly isWidened: boolean;
}

export function lacksNothing({ omitted, withSctpPorts, isWidened }: Omissions): boolean {
  return omitted.length + withSctpPorts.size === 0 && !isWidened;
}

/** Of one table or several ones; by policy, in sentences for operators. */
export class OmissionReasons {
  readonly #reasons = new Map<PolicyName, Set<string>>();
  readonly #maxRules: number;

  constructor(maxRules: number) {
    this.#maxRules = maxRules;
  }

  /**
   * @param owner of the table, for example `the node`
   * @param denying policies because of which ports of services are denied
   */
  add(owner: string, omissions: Omissions, denying: Iterable<PolicyName>): void {
    const { omitted, withSctpPorts, isWidened } = omissions;
    const why = `the table of ${owner} would have more than ${this.#maxRules} rules`;
    for (const policy of omitted) this.#add(policy, `denied what it permits: ${why}`);
    for (const policy of isWidened ? denying : [])
      this.#add(policy, `denied more ports of services than it forbids: ${why}`);
    for (const policy of withSctpPorts)
      this.#add(policy, 'denied ports of SCTP: VPP compares no ports of this protocol');
  }

  /** Sorted, in whatever order they were added. */
  all(): Map<PolicyName, readonly string[]> {
    return new Map(Array.from(this.#reasons, ([policy, texts]) => [policy, [...texts].sort()]));
  }

  #add(policy: PolicyName, text: string): void {
    const known = this.#reasons.get(policy);
    if (known === undefined) this.#reasons.set(policy, new Set([text]));
    else known.add(text);
  }
}
