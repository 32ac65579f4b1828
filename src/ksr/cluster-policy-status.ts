/**
 * Writes one condition of ClusterNetworkPolicies: `Accepted` says whether all of the policy is carried to the nodes, or which
 * rules fail closed. It follows from the object alone, so an object costs one write for each of its contents, however many nodes
 * there are and whatever changes on them. The instance that leads writes differences, one object at a time; the next
 * leader compares again, so that nothing is lost in a crash.
 */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { clusterPolicyRemarks } from '#kubernetes/reflector/cluster-network-policy.ts';
import type { ApiServer, KindHandlers, KindWatch, ObjectName } from './api-server/api.ts';
import { ApiBusyError, ApiForbiddenError, ApiNotFoundError } from './api-server/api-errors.ts';
import { readKubeObject } from './records/kube-object.ts';
import { clusterPolicyPaths } from './records/reflector.ts';

const TYPE = {
  kind: 'ClusterNetworkPolicy',
  apiVersion: 'policy.networking.k8s.io/v1beta1',
} as const;
const CONDITION = 'Accepted';
const INTERVAL_MS = 1_000;
/** Pause after a request that failed. */
const RETRY_MS = 5_000;
/** Of a message; that of the API. */
const MAX_MESSAGE = 32_768;

export interface ClusterPolicyStatusDeps {
  readonly apiServer: ApiServer;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Of the API. */
interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime?: string;
}

interface PolicyObject {
  readonly wanted: Condition;
  /** In the API server, of all writers. */
  readonly conditions: readonly Condition[];
}

/** The work of one leadership. */
export class ClusterPolicyStatusWriter implements KindHandlers {
  readonly #deps: ClusterPolicyStatusDeps;
  readonly #objects = new Map<string, PolicyObject>();
  /** Objects whose condition may differ. */
  readonly #open = new Set<string>();
  #listed: Set<string> | undefined;
  #watch: KindWatch | undefined;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();
  #isForbidden = false;

  constructor(deps: ClusterPolicyStatusDeps) {
    this.#deps = deps;
  }

  start(): void {
    const [path = '', ...otherPaths] = clusterPolicyPaths;
    this.#watch = this.#deps.apiServer.watch({ kind: TYPE.kind, path, otherPaths }, this);
    this.#later(INTERVAL_MS);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the leadership is over'));
    this.#timer?.cancel();
    this.#watch?.close();
    await this.#writing;
  }

  listing(): void {
    this.#listed = new Set();
  }

  changed(objects: readonly unknown[]): void {
    for (const raw of objects) {
      const { name, object, rejection = '' } = readKubeObject(raw, TYPE);
      if (name === undefined) continue;
      const isPolicy = object?.kind === TYPE.kind;
      const problems = isPolicy ? clusterPolicyRemarks(object) : [rejection];
      const { metadata, status } = raw as {
        readonly metadata: { readonly generation?: number };
        readonly status?: { readonly conditions?: readonly Condition[] };
      };
      this.#objects.set(name.name, {
        wanted: conditionOf(problems, metadata.generation ?? 0),
        conditions: status?.conditions ?? [],
      });
      this.#listed?.add(name.name);
      this.#open.add(name.name);
    }
  }

  deleted({ name }: ObjectName): void {
    this.#objects.delete(name);
  }

  listed(): void {
    for (const name of this.#objects.keys())
      if (!this.#listed?.has(name)) this.#objects.delete(name);
    this.#listed = undefined;
  }

  absent(): void {
    this.#listed = undefined;
  }

  /** Nothing to do: a condition about an earlier content names its generation. */
  interrupted(): void {}

  resumed(): void {}

  #later(ms: number): void {
    if (this.#closing.signal.aborted) return;
    this.#timer = this.#deps.clock.timer(ms, () => {
      this.#writing = this.#write().then((pause) => this.#later(pause));
    });
  }

  /** @returns the pause until the next time */
  async #write(): Promise<number> {
    for (const name of [...this.#open]) {
      if (this.#closing.signal.aborted) break;
      // before the request: what changes meanwhile opens it again
      this.#open.delete(name);
      const one = this.#objects.get(name);
      if (one === undefined || isShown(one)) continue;
      try {
        await this.#patch(name, one);
      } catch (thrown) {
        if (!(thrown instanceof ApiNotFoundError)) return this.#pauseAfter(thrown, name);
      }
    }
    return INTERVAL_MS;
  }

  /** A merge patch replaces the whole list, so it has the conditions of other writers, too. */
  async #patch(name: string, { wanted, conditions }: PolicyObject): Promise<void> {
    const { apiServer, clock } = this.#deps;
    const before = conditions.find(({ type }) => type === CONDITION);
    const now = new Date(clock.wallTime()).toISOString().replace(/\.\d+Z$/, 'Z');
    const since = before?.status === wanted.status ? before.lastTransitionTime : undefined;
    const others = conditions.filter(({ type }) => type !== CONDITION);
    const status = { conditions: [...others, { ...wanted, lastTransitionTime: since ?? now }] };
    const [first = '', ...older] = clusterPolicyPaths;
    const { signal } = this.#closing;
    try {
      await apiServer.patchStatus(`${first}/${name}`, status, signal);
    } catch (thrown) {
      if (!(thrown instanceof ApiNotFoundError)) throw thrown;
      for (const path of older) await apiServer.patchStatus(`${path}/${name}`, status, signal);
    }
  }

  #pauseAfter(thrown: unknown, policy: string): number {
    // last, so that the others go first the next time
    this.#open.add(policy);
    const reason = errorText(thrown);
    const isNew = thrown instanceof ApiForbiddenError && !this.#isForbidden;
    this.#isForbidden = thrown instanceof ApiForbiddenError;
    const text = 'cannot write the status of ClusterNetworkPolicy';
    this.#deps.log[isNew ? 'warn' : 'debug']({ policy, reason }, text);
    return Math.max(RETRY_MS, thrown instanceof ApiBusyError ? thrown.pauseMs : 0);
  }
}

function conditionOf(problems: readonly string[], observedGeneration: number): Condition {
  const isWhole = problems.length === 0;
  return {
    type: CONDITION,
    status: isWhole ? 'True' : 'False',
    reason: isWhole ? 'AllRulesSupported' : 'RulesFailClosed',
    message: isWhole
      ? 'all rules are carried to the nodes'
      : `rules that accept do not match, those that deny or pass deny all: ${problems.join('; ')}`.slice(
          0,
          MAX_MESSAGE,
        ),
    observedGeneration,
  };
}

function isShown({ wanted, conditions }: PolicyObject): boolean {
  return conditions.some(
    ({ type, status, reason, message, observedGeneration }) =>
      type === CONDITION &&
      status === wanted.status &&
      reason === wanted.reason &&
      message === wanted.message &&
      observedGeneration === wanted.observedGeneration,
  );
}
