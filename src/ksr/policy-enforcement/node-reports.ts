/** The records of nodes about the policies that they do not enforce. One that has not changed for a time says nothing. */
import type { Clock } from '#infra/clock/clock.ts';
import {
  MAX_LISTED_REFUSALS,
  MAX_REASON_LENGTH,
  type PolicyEnforcement,
  policyEnforcementKey,
  policyEnforcementModel,
} from '#kubernetes/models/policy-enforcement.ts';

/** Three times `REFRESH_MS`: of a node that was not heard since, nothing is known. */
const STALE_MS = 180_000;
/** Until then each node that runs was heard: the longest pause between two of its records, and some time. */
const FIRST_ROUND_MS = 90_000;
/** Bounds against other writers: twice the nodes of the largest clusters. */
const MAX_NODES = 10_000;
const MAX_TEXT = 65_536;

export interface NodeReport {
  /** Digest of the policies that the node has applied. */
  readonly applied: string;
  /** Why it may enforce none of them; empty: it does. */
  readonly problem: string;
  /** By policy. */
  readonly refused: ReadonlyMap<string, string>;
  /** Nothing is known about policies that are not in `refused`. */
  readonly isCut: boolean;
}

interface Entry {
  readonly text: string;
  /** undefined: it cannot be read. */
  readonly report: NodeReport | undefined;
  /** When the record changed, on the monotonic clock; undefined: not since this process follows them. */
  readonly heard: number | undefined;
}

export class NodeReports {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #start: number;
  #entries = new Map<string, Entry>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#start = clock.monotonic();
  }

  set(key: string, text: string | undefined): void {
    const node = policyEnforcementKey.parse(key)?.name;
    if (node === undefined) return;
    if (text === undefined) this.#entries.delete(node);
    else this.#put(this.#entries, node, text, this.#clock.monotonic());
  }

  /** All records were read. */
  replace(records: ReadonlyMap<string, string>): void {
    const found = new Map<string, Entry>();
    for (const [key, text] of records) {
      const node = policyEnforcementKey.parse(key)?.name;
      if (node === undefined) continue;
      const known = this.#entries.get(node);
      const isHeard = known !== undefined && known.text !== text;
      this.#put(found, node, text, isHeard ? this.#clock.monotonic() : known?.heard);
    }
    this.#entries = found;
  }

  /** @returns undefined: nothing is known about the node */
  of(node: string): NodeReport | undefined {
    const { report, heard } = this.#entries.get(node) ?? {};
    if (heard === undefined || this.#clock.monotonic() - heard > STALE_MS) return undefined;
    return report;
  }

  /** Whether each of the nodes has had the time to be heard: before, nothing is said about any of them. */
  areHeard(nodes: Iterable<string>): boolean {
    if (this.#clock.monotonic() - this.#start >= FIRST_ROUND_MS) return true;
    for (const node of nodes) if (this.#entries.get(node)?.heard === undefined) return false;
    return true;
  }

  #put(entries: Map<string, Entry>, node: string, text: string, heard: number | undefined): void {
    if (entries.size >= MAX_NODES && !entries.has(node)) return;
    const isLong = text.length > MAX_TEXT;
    entries.set(node, {
      text: isLong ? '' : text,
      report: isLong ? undefined : reportOf(node, text),
      heard,
    });
  }
}

function reportOf(node: string, text: string): NodeReport | undefined {
  const record = parsed(text);
  if (record === undefined || record.node_name !== node) return undefined;
  const { applied, problem, not_enforced: all, unlisted } = record;
  const refused = new Map<string, string>();
  for (const { policy, code, reason } of all.slice(0, MAX_LISTED_REFUSALS)) {
    const before = refused.get(policy);
    const one = short(`${code}: ${reason}`);
    refused.set(policy, before === undefined ? one : short(`${before}; ${one}`));
  }
  const isCut = unlisted > 0 || all.length > MAX_LISTED_REFUSALS;
  return { applied, problem: short(problem), refused, isCut };
}

function parsed(text: string): PolicyEnforcement | undefined {
  try {
    return policyEnforcementModel.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function short(text: string): string {
  return text.length <= MAX_REASON_LENGTH ? text : `${text.slice(0, MAX_REASON_LENGTH - 1)}…`;
}
