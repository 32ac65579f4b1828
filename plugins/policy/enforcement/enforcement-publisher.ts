/**
 * Publishes what this node does not enforce in the database of the cluster, where contiv-ksr sums it up. A change is written within
 * ten seconds, at a random time: it may be one of all nodes. Without a change the record is written once a minute, which
 * says that the agent runs. Nothing is read: what is written says all.
 * Without policies of the cluster nothing is written, but once after the last one was deleted: if it comes again, the record must not
 * say that it is applied.
 */
import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { repeatedWork } from '#infra/process/repeated-work.ts';
import {
  MAX_LISTED_REFUSALS,
  MAX_REASON_LENGTH,
  type PolicyEnforcement,
  policyEnforcementKey,
  policyEnforcementModel,
  REFRESH_MS,
} from '#kubernetes/models/policy-enforcement.ts';
import type { NodeEnforcement } from './node-enforcement.ts';

/** Interval in which the state is read. */
const INTERVAL_MS = 1_000;
/** The changes of all nodes are spread over this time. */
const SPREAD_MS = 10_000;
/** Pause between two writes. */
const MIN_PAUSE_MS = 10_000;

export interface EnforcementPublisherDeps {
  readonly nodeName: string;
  /** The store that all nodes share. */
  readonly cluster: Pick<KvStore, 'put'>;
  /** undefined: not known now. */
  readonly read: () => NodeEnforcement | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function enforcementPublisher(deps: EnforcementPublisherDeps): Component {
  const publisher = new EnforcementPublisher(deps);
  const task = {
    name: 'policy-enforcement',
    intervalMs: INTERVAL_MS,
    work: () => publisher.publish(),
    onFailure: (thrown: unknown) => {
      const reason = errorText(thrown);
      deps.log.debug({ reason }, 'cannot publish which policies are enforced; trying again');
    },
  };
  return repeatedWork(task, deps);
}

class EnforcementPublisher {
  readonly #deps: EnforcementPublisherDeps;
  readonly #key: string;
  /** Without its time; undefined: unknown. */
  #written: string | undefined;
  /** On the monotonic clock. */
  #writtenAt = Number.NEGATIVE_INFINITY;
  #refreshAt = Number.POSITIVE_INFINITY;
  /** There are policies of the cluster, or there were some at the last write. */
  #isNeeded = false;
  /** undefined: nothing has changed since the last write. */
  #changeAt: number | undefined;

  constructor(deps: EnforcementPublisherDeps) {
    this.#deps = deps;
    this.#key = policyEnforcementKey.build({ name: deps.nodeName });
  }

  async publish(): Promise<void> {
    const { nodeName, cluster, read, clock, random } = this.#deps;
    const enforcement = read();
    if (enforcement === undefined) return;
    const hasPolicies = enforcement.policies > 0;
    this.#isNeeded ||= hasPolicies;
    if (!this.#isNeeded) return;
    const record = recordOf(nodeName, enforcement);
    const content = textOf(record);
    const now = clock.monotonic();
    if (content === this.#written) this.#changeAt = undefined;
    else
      this.#changeAt ??= Math.max(now + random.next() * SPREAD_MS, this.#writtenAt + MIN_PAUSE_MS);
    if (now < Math.min(this.#refreshAt, this.#changeAt ?? Number.POSITIVE_INFINITY)) return;
    // until it is written: a write without a reply may have been made
    this.#written = undefined;
    const updated = new Date(clock.wallTime()).toISOString();
    await cluster.put(this.#key, textOf({ ...record, updated }));
    this.#written = content;
    this.#writtenAt = now;
    this.#changeAt = undefined;
    this.#isNeeded = hasPolicies;
    // at random, so that those of nodes that have changed together do not stay together
    this.#refreshAt = hasPolicies
      ? now + REFRESH_MS * (0.75 + random.next() / 2)
      : Number.POSITIVE_INFINITY;
  }
}

function recordOf(nodeName: string, enforcement: NodeEnforcement): PolicyEnforcement {
  const { applied, problem, notEnforced } = enforcement;
  const listed = notEnforced.slice(0, MAX_LISTED_REFUSALS);
  return policyEnforcementModel.canonical({
    node_name: nodeName,
    applied,
    problem,
    not_enforced: listed.map(({ reason, ...one }) => ({
      ...one,
      reason: reason.slice(0, MAX_REASON_LENGTH),
    })),
    unlisted: notEnforced.length - listed.length,
  });
}

function textOf(record: PolicyEnforcement): string {
  return JSON.stringify(policyEnforcementModel.toJson(record));
}
