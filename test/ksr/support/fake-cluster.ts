import { PassThrough } from 'node:stream';
import type { Clock } from '#infra/clock/clock.ts';
import type { ApiRequest, ApiResponse, ApiTransport } from '#ksr/api-server/transport.ts';
import { FakeHistory, type FakeObject, type RecordedChange } from './fake-history.ts';
import { mergePatch } from './merge-patch.ts';

/** How the server misbehaves, instead of answering a request. */
export interface Fault {
  /** Requests that it concerns; all when unset. */
  readonly on?: 'list' | 'watch' | 'patch';
  /** Path of the requests that it concerns; all when unset. */
  readonly path?: string;
  /** How many requests; 1 when unset. */
  readonly times?: number;
  /** An HTTP error. */
  readonly status?: number;
  /** Header `Retry-After`. */
  readonly retryAfter?: string;
  /** No answer at all. */
  readonly isSilent?: boolean;
  /** The connection breaks after so many bytes of a list. */
  readonly cutAfter?: number;
  /** The body of the answer with status 200, which then ends. */
  readonly body?: string;
}

interface OpenWatch {
  readonly path: string;
  readonly stream: PassThrough;
}

const DEFAULT_TIMEOUT_S = 1800;

const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/**
 * The API of Kubernetes that watches use, in memory: lists in pages, watches with bookmarks, a history
 * that ends. It answers requests itself, on any clock, or over HTTP as a `FakeApiServer`.
 */
export class FakeCluster implements ApiTransport {
  readonly #clock: Clock;
  readonly #watches = new Set<OpenWatch>();
  readonly #history = new FakeHistory();
  #faults: { readonly fault: Fault; left: number }[] = [];
  /** Set while the server is suspended, as by SIGSTOP. */
  #suspended: { readonly end: Promise<void>; readonly resume: () => void } | undefined;
  /** Requests so far, e.g. `list /api/v1/pods`, `watch /api/v1/pods from 103`. */
  readonly requests: string[] = [];
  /** How a watch from an expired version is refused. */
  expiredBy: 'status' | 'event' = 'event';
  bookmarkMs = 60_000;
  /** Pause before each change that a new watch gets because it has missed it. */
  missedMs = 0;
  /** Size of the pieces in which lists arrive. */
  pieceBytes = 16_384;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  get revision(): number {
    return this.#history.revision;
  }

  /** Makes a kind known; before it, and after `uninstall`, its path is answered with 404. */
  install(...paths: readonly string[]): void {
    for (const path of paths) this.#history.install(path);
  }

  uninstall(path: string): void {
    this.#history.uninstall(path);
    this.endWatches(path);
  }

  objects(path: string): FakeObject[] {
    return this.#history.objects(path);
  }

  /** Creates or replaces an object. @param path of the kind, e.g. `/api/v1/pods` */
  put(path: string, object: FakeObject): FakeObject {
    const change = this.#history.put(path, object);
    this.#publish(change);
    return change.object;
  }

  delete(path: string, name: string, namespace?: string): void {
    const change = this.#history.delete(path, name, namespace);
    if (change) this.#publish(change);
  }

  /** Drops the history: continue tokens and older resource versions expire. */
  compact(): void {
    this.#history.compact();
  }

  /** The database is replaced by a backup or by an empty one; connections break. */
  restore(revision: number, objects: 'keep' | 'clear' = 'clear'): void {
    this.#history.restore(revision, objects);
    this.cut();
  }

  bookmark(path?: string): void {
    const metadata = { resourceVersion: String(this.revision) };
    this.sendRaw(eventLine('BOOKMARK', { metadata }), path);
  }

  /** Sends text on all watches of a kind. */
  sendRaw(text: string, path?: string): void {
    this.#whenAwake(() => {
      for (const { stream } of this.#of(path)) stream.write(text);
    });
  }

  /** Breaks the connections of watches. */
  cut(path?: string): void {
    for (const { stream } of this.#of(path)) stream.destroy(reset());
  }

  /** The connections of open watches hang: nothing comes any more, and no reset. */
  hangWatches(): void {
    this.#watches.clear();
  }

  /** Ends watches as the server does after their time. */
  endWatches(path?: string): void {
    for (const { stream } of this.#of(path)) stream.end();
  }

  /** Requests and watches stay open, but nothing is answered or sent until `resume`. */
  suspend(): void {
    if (this.#suspended) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#suspended = { end: promise, resume: resolve };
  }

  resume(): void {
    this.#suspended?.resume();
    this.#suspended = undefined;
  }

  /** The next matching requests meet the fault; several faults are used in order. */
  inject(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  clearFaults(): void {
    this.#faults = [];
  }

  async send(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { path, query } = request;
    const verb = request.method === 'PATCH' ? 'patch' : query['watch'] ? 'watch' : 'list';
    const from = verb === 'watch' ? ` from ${query['resourceVersion']}` : '';
    this.requests.push(`${verb} ${path}${from}`);
    if (this.#suspended) await unlessAborted(this.#suspended.end, signal);
    const fault = this.#faultOf(verb, path);
    if (fault?.isSilent) await unlessAborted(new Promise<never>(() => undefined), signal);
    if (fault?.status !== undefined)
      return { ...status(fault.status, 'injected'), retryAfter: fault.retryAfter };
    if (fault?.body !== undefined) return ok(text(fault.body));
    if (verb === 'patch') return this.#patch(request);
    if (!this.#history.has(path)) return status(404, 'the server could not find the resource');
    if (verb === 'watch') return this.#watch(path, query, signal);
    return this.#list(path, query, fault?.cutAfter);
  }

  #list(path: string, query: ApiRequest['query'], cutAfter: number | undefined): ApiResponse {
    const page = this.#history.page(path, Number(query['limit'] ?? 0), query['continue']);
    if (!page) return status(410, 'The provided continue parameter is too old');
    return ok(pieces(page, this.pieceBytes, cutAfter));
  }

  #watch(path: string, query: ApiRequest['query'], signal: AbortSignal): ApiResponse {
    const version = Number(query['resourceVersion'] ?? 0);
    const changes = this.#history.since(path, version);
    if (!changes) {
      const message = `too old resource version: ${version}`;
      if (this.expiredBy === 'status') return status(410, message);
      return ok(text(eventLine('ERROR', { kind: 'Status', code: 410, message })));
    }
    const stream = new PassThrough();
    if (this.missedMs > 0) {
      void this.#sendMissed(path, stream, query, signal);
      return ok(stream);
    }
    for (const change of changes) stream.write(changeLine(change));
    this.#keepOpen(path, stream, query, signal);
    return ok(stream);
  }

  async #sendMissed(
    path: string,
    stream: PassThrough,
    query: ApiRequest['query'],
    signal: AbortSignal,
  ): Promise<void> {
    stream.on('error', () => undefined);
    let version = Number(query['resourceVersion'] ?? 0);
    for (;;) {
      const [next] = this.#history.since(path, version) ?? [];
      if (!next) break;
      await this.#clock.sleep(this.missedMs, signal).catch(() => undefined);
      if (signal.aborted) {
        stream.destroy(reset());
        return;
      }
      this.#whenAwake(() => stream.write(changeLine(next)));
      version = next.revision;
    }
    this.#keepOpen(path, stream, query, signal);
  }

  #keepOpen(
    path: string,
    stream: PassThrough,
    query: ApiRequest['query'],
    signal: AbortSignal,
  ): void {
    const watch = { path, stream };
    this.#watches.add(watch);
    const seconds = Number(query['timeoutSeconds'] ?? DEFAULT_TIMEOUT_S);
    const end = this.#clock.timer(seconds * 1000, () => this.#whenAwake(() => stream.end()));
    const remind = () => {
      const resourceVersion = String(this.revision);
      this.#whenAwake(() => stream.write(eventLine('BOOKMARK', { metadata: { resourceVersion } })));
      timer = this.#clock.timer(this.bookmarkMs, remind);
    };
    let timer = this.#clock.timer(this.bookmarkMs, remind);
    const closed = () => {
      this.#watches.delete(watch);
      end.cancel();
      timer.cancel();
    };
    stream.on('error', () => undefined);
    stream.once('close', closed);
    stream.once('finish', closed);
    signal.addEventListener('abort', () => stream.destroy(reset()), { once: true });
  }

  #patch(request: ApiRequest): ApiResponse {
    const match = /^(.*?)(?:\/namespaces\/([^/]+))?\/([^/]+)\/([^/]+)\/status$/.exec(request.path);
    const [, group, namespace, resource, name] = match ?? [];
    const path = `${group}/${resource}`;
    const object = this.#history.has(path)
      ? this.objects(path).find(
          ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
        )
      : undefined;
    if (!object) return status(404, `${resource} "${name}" not found`);
    const { status: patch } = JSON.parse(request.body ?? '{}') as { status?: unknown };
    const changed = this.put(path, { ...object, status: mergePatch(object['status'], patch) });
    return ok(text(JSON.stringify(changed)));
  }

  #publish(change: RecordedChange): void {
    this.sendRaw(changeLine(change), change.path);
  }

  /** A suspended server does later what it would do now. */
  #whenAwake(action: () => void): void {
    if (this.#suspended) void this.#suspended.end.then(action);
    else action();
  }

  #of(path: string | undefined): OpenWatch[] {
    return [...this.#watches].filter(
      (watch) => (path === undefined || watch.path === path) && !watch.stream.writableEnded,
    );
  }

  #faultOf(verb: string, path: string): Fault | undefined {
    const found = this.#faults.find(
      ({ fault }) => (fault.on ?? verb) === verb && (fault.path ?? path) === path,
    );
    if (!found) return undefined;
    if (--found.left <= 0) this.#faults = this.#faults.filter((fault) => fault !== found);
    return found.fault;
  }
}

const ok = (body: AsyncIterable<Uint8Array>): ApiResponse => ({
  status: 200,
  retryAfter: undefined,
  body,
});

function status(code: number, message: string): ApiResponse {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code };
  return { status: code, retryAfter: undefined, body: text(JSON.stringify(body)) };
}

const eventLine = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;

const changeLine = ({ type, object }: RecordedChange) => eventLine(type, object);

async function* text(body: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(body);
}

async function* pieces(
  body: string,
  size: number,
  cutAfter: number | undefined,
): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(body).subarray(0, cutAfter);
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
  if (cutAfter !== undefined) throw reset();
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
