/**
 * Writes the status of the objects of one kind. Only differences are written, one object at a time, by the instance that leads;
 * the next leader compares again, so that nothing is lost in a crash.
 */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ApiServer, KindHandlers, KindWatch, ObjectName } from './api-server/api.ts';
import { ApiBusyError, ApiForbiddenError, ApiNotFoundError } from './api-server/api-errors.ts';
import { displayName } from './records/kube-object.ts';

const INTERVAL_MS = 1_000;
/** Pause after a request that failed. */
const RETRY_MS = 5_000;

export interface StatusWriterDeps {
  readonly apiServer: ApiServer;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface StatusObject {
  readonly name: ObjectName;
}

/** One kind of objects. */
export interface StatusKind<T extends StatusObject> {
  readonly kind: string;
  /** Of all objects, in the versions of the API that may be served, the preferred one first. */
  readonly paths: readonly [string, ...string[]];
  /** @returns undefined for an object without a name */
  read(raw: unknown): T | undefined;
  /** The fields to write; `shown`: the object has them; `unknown`: they are not known yet. */
  statusOf(one: T): object | 'shown' | 'unknown';
  /** An object has changed, or was deleted: others may have another status. */
  changed(name: ObjectName): void;
}

/** The work of one leadership. */
export class StatusWriter<T extends StatusObject> implements KindHandlers {
  readonly #deps: StatusWriterDeps;
  readonly #kind: StatusKind<T>;
  readonly #objects = new Map<string, T>();
  /** Objects whose status may differ. */
  readonly #open = new Set<string>();
  #listed: Set<string> | undefined;
  #watch: KindWatch | undefined;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();
  #isForbidden = false;

  constructor(deps: StatusWriterDeps, kind: StatusKind<T>) {
    this.#deps = deps;
    this.#kind = kind;
  }

  /** By the name that people read. */
  get objects(): ReadonlyMap<string, T> {
    return this.#objects;
  }

  start(): void {
    const { kind, paths } = this.#kind;
    const [path, ...otherPaths] = paths;
    this.#watch = this.#deps.apiServer.watch({ kind, path, otherPaths }, this);
    this.#later(INTERVAL_MS);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the leadership is over'));
    this.#timer?.cancel();
    this.#watch?.close();
    await this.#writing;
  }

  /** Compares the status of an object again. */
  reopen({ name }: T): void {
    this.#open.add(displayName(name));
  }

  listing(): void {
    this.#listed = new Set();
  }

  changed(objects: readonly unknown[]): void {
    for (const raw of objects) {
      const one = this.#kind.read(raw);
      if (one === undefined) continue;
      const id = displayName(one.name);
      this.#objects.set(id, one);
      this.#listed?.add(id);
      this.#open.add(id);
      this.#kind.changed(one.name);
    }
  }

  deleted(name: ObjectName): void {
    this.#objects.delete(displayName(name));
    this.#kind.changed(name);
  }

  listed(): void {
    for (const [id, { name }] of this.#objects) if (!this.#listed?.has(id)) this.deleted(name);
    this.#listed = undefined;
  }

  absent(): void {
    this.#listed = undefined;
  }

  /** Nothing to do: a status about an earlier content names its generation. */
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
    for (const id of [...this.#open]) {
      if (this.#closing.signal.aborted) break;
      const one = this.#objects.get(id);
      const status = one === undefined ? 'shown' : this.#kind.statusOf(one);
      if (status === 'unknown') continue;
      // before the request: what changes meanwhile opens it again
      this.#open.delete(id);
      if (one === undefined || status === 'shown') continue;
      try {
        await this.#patch(one.name, status as object);
      } catch (thrown) {
        if (!(thrown instanceof ApiNotFoundError)) return this.#pauseAfter(thrown, id);
      }
    }
    return INTERVAL_MS;
  }

  /** In the first version that is served. */
  async #patch({ namespace, name }: ObjectName, status: object): Promise<void> {
    const [first, ...others] = this.#kind.paths.map((path) => pathOf(path, namespace, name));
    const { apiServer } = this.#deps;
    const { signal } = this.#closing;
    try {
      await apiServer.patchStatus(first!, status, signal);
    } catch (thrown) {
      if (!(thrown instanceof ApiNotFoundError)) throw thrown;
      for (const path of others) await apiServer.patchStatus(path, status, signal);
    }
  }

  #pauseAfter(thrown: unknown, object: string): number {
    // last, so that the others go first the next time
    this.#open.add(object);
    const reason = errorText(thrown);
    const isNew = thrown instanceof ApiForbiddenError && !this.#isForbidden;
    this.#isForbidden = thrown instanceof ApiForbiddenError;
    const text = `cannot write the status of ${this.#kind.kind}`;
    this.#deps.log[isNew ? 'warn' : 'debug']({ object, reason }, text);
    return Math.max(RETRY_MS, thrown instanceof ApiBusyError ? thrown.pauseMs : 0);
  }
}

/** @param path of all objects; those in namespaces have theirs before the last part */
function pathOf(path: string, namespace: string, name: string): string {
  if (namespace === '') return `${path}/${name}`;
  const end = path.lastIndexOf('/');
  return `${path.slice(0, end)}/namespaces/${namespace}${path.slice(end)}/${name}`;
}
