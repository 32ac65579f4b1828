/**
 * Writes the status of NodeConfigs: what the node of that name has decided about exactly this content. A
 * decision about an earlier content is not shown. Only differences are written, one object at a time, by
 * the instance that leads; the next leader compares again, so that nothing is lost in a crash.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { nodeConfigDigest } from '#kubernetes/models/node-config-status.ts';
import { nodeConfigValue } from '#kubernetes/reflector/custom-resources.ts';
import type { KubeNodeConfig } from '#kubernetes/reflector/objects/custom-resources.ts';
import { InvalidModelError } from '#models/model.ts';
import type { ApiServer, KindHandlers, KindWatch, ObjectName } from './api-server/api.ts';
import { ApiBusyError, ApiForbiddenError, ApiNotFoundError } from './api-server/api-errors.ts';
import { NodeDecisions, type NodeDecisionsDeps } from './node-decisions.ts';
import { creationTimeOf, displayName, readKubeObject } from './records/kube-object.ts';
import { objectInUse } from './records/object-in-use.ts';

const GROUP_PATH = '/apis/nodeconfig.contiv.vpp/v1';
const TYPE = { kind: 'NodeConfig', apiVersion: 'nodeconfig.contiv.vpp/v1' } as const;
const INTERVAL_MS = 1_000;
/** Without a decision for this time, the status says so. */
const DECISION_MS = 30_000;
/** Pause after a request that failed. */
const RETRY_MS = 5_000;

export interface NodeConfigStatusDeps {
  readonly apiServer: ApiServer;
  readonly store: NodeDecisionsDeps['store'];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Status of the resource, without its time. */
interface Status {
  readonly state: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly refusedFields: readonly { readonly field: string; readonly reason: string }[];
}

interface NodeConfigObject {
  readonly name: ObjectName;
  readonly created: string;
  readonly generation: number;
  /** Of the record; undefined: the object is invalid. */
  readonly digest: string | undefined;
  readonly rejection: string;
  /** In the API server. */
  readonly status: Readonly<Record<string, unknown>>;
  /** Since when it has this content, on the monotonic clock. */
  readonly since: number;
}

/** The work of one leadership. */
export class NodeConfigStatusWriter implements KindHandlers {
  readonly #deps: NodeConfigStatusDeps;
  readonly #decisions: NodeDecisions;
  readonly #objects = new Map<string, NodeConfigObject>();
  /** Objects whose status may differ. */
  readonly #open = new Set<string>();
  #listed: Set<string> | undefined;
  #watch: KindWatch | undefined;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();
  #isForbidden = false;

  constructor(deps: NodeConfigStatusDeps) {
    this.#deps = deps;
    this.#decisions = new NodeDecisions({ ...deps, onChange: (node) => this.#reopen(node) });
  }

  start(): void {
    const path = `${GROUP_PATH}/nodeconfigs`;
    this.#decisions.start();
    this.#watch = this.#deps.apiServer.watch({ kind: 'NodeConfig', path }, this);
    this.#later(INTERVAL_MS);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the leadership is over'));
    this.#timer?.cancel();
    this.#watch?.close();
    await Promise.all([this.#writing, this.#decisions.close()]);
  }

  listing(): void {
    this.#listed = new Set();
  }

  changed(objects: readonly unknown[]): void {
    for (const raw of objects) {
      const one = this.#read(raw);
      if (!one) continue;
      const id = displayName(one.name);
      this.#objects.set(id, one);
      this.#listed?.add(id);
      this.#reopen(one.name.name);
    }
  }

  deleted(name: ObjectName): void {
    this.#objects.delete(displayName(name));
    this.#reopen(name.name);
  }

  listed(): void {
    for (const [id, { name }] of this.#objects) if (!this.#listed?.has(id)) this.deleted(name);
    this.#listed = undefined;
  }

  absent(): void {
    this.#listed = undefined;
  }

  /** Nothing to do: a status for an earlier content names its generation. */
  interrupted(): void {}

  resumed(): void {}

  /** Objects with the name of a node, in whatever namespace, have one record and one decision. */
  #ofNode(node: string): NodeConfigObject[] {
    return [...this.#objects.values()].filter(({ name }) => name.name === node);
  }

  #reopen(node: string): void {
    for (const { name } of this.#ofNode(node)) this.#open.add(displayName(name));
  }

  #read(raw: unknown): NodeConfigObject | undefined {
    const { name, object, rejection: unreadable = '' } = readKubeObject(raw, TYPE);
    if (!name) return undefined;
    const { metadata, status } = raw as {
      readonly metadata: { readonly generation?: number };
      readonly status?: Record<string, unknown>;
    };
    const { digest, rejection } =
      object?.kind === 'NodeConfig'
        ? digestOf(object)
        : { digest: undefined, rejection: unreadable };
    const before = this.#objects.get(displayName(name));
    const isSame = before !== undefined && before.digest === digest;
    const since = isSame ? before.since : this.#deps.clock.monotonic();
    const { generation = 0 } = metadata;
    const created = creationTimeOf(raw);
    return { name, created, generation, digest, rejection, status: status ?? {}, since };
  }

  #later(ms: number): void {
    if (this.#closing.signal.aborted) return;
    this.#timer = this.#deps.clock.timer(ms, () => {
      this.#writing = this.#write().then((pause) => this.#later(pause));
    });
  }

  /** @returns the pause until the next time */
  async #write(): Promise<number> {
    for (const id of [...this.#open]) {
      if (this.#closing.signal.aborted) break;
      const one = this.#objects.get(id);
      const status = one && this.#statusOf(one);
      if (one && !status) continue;
      // before the request: what changes meanwhile opens it again
      this.#open.delete(id);
      if (!one || !status || isShown(status, one)) continue;
      try {
        await this.#patch(one, status);
      } catch (thrown) {
        if (!(thrown instanceof ApiNotFoundError)) return this.#pauseAfter(thrown, id);
      }
    }
    return INTERVAL_MS;
  }

  async #patch(one: NodeConfigObject, status: Status): Promise<void> {
    const { apiServer, clock } = this.#deps;
    const { namespace, name } = one.name;
    const path = `${GROUP_PATH}/namespaces/${namespace}/nodeconfigs/${name}`;
    const decided = this.#decisions.get(name)?.since;
    const since = decided || new Date(clock.wallTime()).toISOString();
    await apiServer.patchStatus(path, { ...status, since }, this.#closing.signal);
  }

  #pauseAfter(thrown: unknown, id: string): number {
    const { log } = this.#deps;
    // last, so that the others go first the next time
    this.#open.add(id);
    const reason = errorText(thrown);
    const isNew = thrown instanceof ApiForbiddenError && !this.#isForbidden;
    this.#isForbidden = thrown instanceof ApiForbiddenError;
    log[isNew ? 'warn' : 'debug']({ object: id, reason }, 'cannot write the status of NodeConfig');
    return Math.max(RETRY_MS, thrown instanceof ApiBusyError ? thrown.pauseMs : 0);
  }

  /** undefined: a decision may still come. */
  #statusOf(one: NodeConfigObject): Status | undefined {
    const { name, digest, generation: observedGeneration, rejection, since } = one;
    const base = { observedGeneration, refusedFields: [] };
    if (digest === undefined) return { ...base, state: 'Refused', message: rejection };
    const inUse = objectInUse(this.#ofNode(name.name));
    if (inUse && inUse !== one) {
      const message = `${displayName(inUse.name)} configures the node; delete one of the two`;
      return { ...base, state: 'Superseded', message };
    }
    const decision = this.#decisions.get(name.name);
    if (decision?.node_config === digest) {
      const { state, message, refused_fields } = decision;
      const refusedFields = refused_fields.map(({ field, reason }) => ({ field, reason }));
      return { state, message, observedGeneration, refusedFields };
    }
    if (this.#deps.clock.monotonic() - since < DECISION_MS) return undefined;
    const message = `no agent of a node named "${name.name}" has decided about it`;
    return { ...base, state: 'Waiting', message };
  }
}

/** @returns without a digest for an object that the record cannot represent, e.g. with invalid Unicode */
function digestOf(object: KubeNodeConfig): Pick<NodeConfigObject, 'digest' | 'rejection'> {
  try {
    return { digest: nodeConfigDigest(nodeConfigValue(object)), rejection: '' };
  } catch (thrown) {
    if (!(thrown instanceof InvalidModelError)) throw thrown;
    return { digest: undefined, rejection: thrown.message };
  }
}

function isShown(wanted: Status, { status }: NodeConfigObject): boolean {
  const { state, message, observedGeneration, refusedFields } = status;
  return isDeepStrictEqual({ state, message, observedGeneration, refusedFields }, { ...wanted });
}
