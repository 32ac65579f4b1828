/**
 * Whether the nodes enforce each ClusterNetworkPolicy. The records of the nodes and of the policies are followed; all of them are
 * summed up once in a round, however many have changed, so that a policy has at most one other answer in a round.
 */
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { policyEnforcementModel } from '#kubernetes/models/policy-enforcement.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { FollowedPrefix, type FollowedPrefixDeps } from '../records/followed-prefix.ts';
import type { RecordTable } from '../records/record-table.ts';
import { type Enforcement, EnforcementSummary } from './enforcement-summary.ts';
import { NodeReports } from './node-reports.ts';
import { PolicyHistory } from './policy-history.ts';

export const ROUND_MS = 10_000;

export interface ClusterEnforcementDeps {
  readonly store: FollowedPrefixDeps['store'];
  /** Records of the nodes of the cluster. */
  readonly nodes: Pick<RecordTable, 'prefix' | 'isComplete' | 'keys'>;
  /** Of all records of the reflector. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class ClusterEnforcement {
  readonly #deps: ClusterEnforcementDeps;
  readonly #reports: NodeReports;
  readonly #history = new PolicyHistory();
  readonly #followed: readonly FollowedPrefix[];
  /** Prefixes that were read. */
  readonly #read = new Set<string>();
  #summary: EnforcementSummary | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(deps: ClusterEnforcementDeps) {
    this.#deps = deps;
    this.#reports = new NodeReports(deps.clock);
    this.#followed = [
      this.#follow(policyEnforcementModel.keyPrefix, this.#reports),
      this.#follow(deps.prefix + resources.clusternetworkpolicy.keyPrefix, this.#history),
    ];
  }

  /** @param onRound is called after each round */
  start(onRound: () => void): void {
    for (const one of this.#followed) one.start();
    const next = (): void => {
      if (this.#isClosed) return;
      this.#timer = this.#deps.clock.timer(ROUND_MS, () => {
        this.#sumUp();
        onRound();
        next();
      });
    };
    next();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const one of this.#followed) one.close();
  }

  /**
   * @param text of the record that the policy has to have
   * @returns undefined: not all nodes could be heard yet since this instance leads
   */
  of(name: string, text: string): Enforcement | undefined {
    const key = this.#deps.prefix + resources.clusternetworkpolicy.key(name, '');
    return this.#summary?.of(name, this.#history.since(key, text));
  }

  /** Nodes that leave, and those that are not heard any more, are noticed here: a look at each of them takes less than a microsecond. */
  #sumUp(): void {
    const { nodes } = this.#deps;
    if (!nodes.isComplete || this.#read.size < this.#followed.length) return;
    const names = Array.from(nodes.keys(), (key) => key.slice(nodes.prefix.length));
    if (!this.#reports.areHeard(names)) return;
    this.#summary = new EnforcementSummary({
      nodes: names,
      reportOf: (node) => this.#reports.of(node),
      numberOf: (digest) => this.#history.numberOf(digest),
    });
  }

  #follow(prefix: string, to: Followed): FollowedPrefix {
    return new FollowedPrefix({
      ...this.#deps,
      prefix,
      onRead: (entries) => {
        to.replace(entries);
        this.#read.add(prefix);
      },
      onChange: (key, text) => to.set(key, text),
    });
  }
}

interface Followed {
  replace(entries: ReadonlyMap<string, string>): void;
  set(key: string, text: string | undefined): void;
}
