import type { IDuplexStream, IWatchRequest, IWatchResponse } from 'etcd3';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { WatchLostError } from '../api.ts';
import { prefixEnd, prefixStart } from '../keys.ts';
import { isUnavailableReason } from './errors.ts';

type Stream = IDuplexStream<IWatchRequest, IWatchResponse>;

/** Interval of the progress requests. */
const PROGRESS_REQUEST_MS = 10_000;

/** One watch stream of etcd from its creation to its end. */
export class WatchStream {
  readonly #stream: Stream;
  readonly #ended: Promise<never>;
  #end: (reason: unknown) => void = () => undefined;
  #created: () => void = () => undefined;
  /** Responses that arrived before `read`. */
  #waiting: IWatchResponse[] = [];
  #reader: ((response: IWatchResponse) => void) | undefined;
  #over = false;
  #timer: Timer | undefined;
  /** Whether a response has arrived since the last progress request. */
  #heard = false;
  /** Whether progress requests are answered: etcd before 3.4 and `etcd grpc-proxy` ignore them. */
  #answers = false;

  /** @param signal ends the stream */
  constructor(stream: Stream, signal: AbortSignal) {
    this.#stream = stream;
    this.#ended = new Promise<never>((_resolve, reject) => {
      this.#end = reject;
    });
    // Waiting callers get the reason; without one the rejection must not be unhandled.
    this.#ended.catch(() => undefined);
    const abort = () => this.end(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    stream.on('data', (response) => this.#receive(response));
    stream.on('error', (error) => this.end(error));
    stream.on('end', () => this.end(new Error('etcd ended the watch stream')));
    void this.#ended.catch(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  }

  /** Requests the changes of a prefix from a revision on; resolves when etcd has confirmed. */
  async create(prefix: string, revision: number, clock: Clock, timeoutMs: number): Promise<void> {
    const timer = clock.timer(timeoutMs, () =>
      this.end(new Error('no reply to the watch request')),
    );
    const created = new Promise<void>((resolve) => {
      this.#created = resolve;
    });
    this.#stream.write({
      create_request: {
        key: prefixStart(prefix),
        range_end: prefixEnd(prefix),
        start_revision: revision,
        fragment: true,
      },
    });
    try {
      await Promise.race([created, this.#ended]);
    } finally {
      timer.cancel();
    }
  }

  /**
   * Ends the stream when it is silent. Sends progress requests, which etcd answers at once. Without
   * an answer etcd may be unreachable, and another stream can resume. But if etcd answers all other
   * requests, and has answered progress requests, then the stream may have lost changes, and the watch is lost.
   * @param alive rejects when etcd does not answer on the connection of this stream, or has another database:
   *   a proxy continues the stream over the end of its etcd
   */
  detectSilence(clock: Clock, limitMs: number, alive: () => Promise<void>): void {
    const later = (ms: number, next: () => void): void => {
      if (!this.#over) this.#timer = clock.timer(ms, next);
    };
    const request = (): void => {
      this.#heard = false;
      this.#stream.write({ progress_request: {} });
      later(limitMs, check);
    };
    const check = (): void => {
      if (this.#heard && this.#answers) {
        later(PROGRESS_REQUEST_MS, request);
        return;
      }
      alive().then(
        () => later(limitMs, endIfSilent),
        (reason) => this.end(reason),
      );
    };
    const endIfSilent = (): void => {
      if (this.#heard || !this.#answers) later(PROGRESS_REQUEST_MS, request);
      else this.end(new WatchLostError('the watch is silent although etcd answers'));
    };
    request();
  }

  /** Delivers responses to the reader; rejects when the stream ends. */
  async read(reader: (response: IWatchResponse) => void): Promise<never> {
    for (const response of this.#waiting.splice(0)) if (!this.#over) reader(response);
    this.#reader = reader;
    return await this.#ended;
  }

  /** Ends the stream; no response is delivered after this. */
  end(reason: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.#end(reason);
    this.#stream.cancel();
  }

  #receive(response: IWatchResponse): void {
    if (this.#over) return;
    this.#heard = true;
    if (response.canceled) {
      const { compact_revision: compacted, cancel_reason: reason } = response;
      const text =
        compacted === '0' ? `etcd ended the watch: ${reason}` : `compacted up to ${compacted}`;
      this.end(isUnavailableReason(reason) ? new Error(text) : new WatchLostError(text));
      return;
    }
    if (response.created) this.#created();
    else if (response.events.length === 0) this.#answers = true;
    if (response.events.length === 0) return;
    if (this.#reader) this.#reader(response);
    else this.#waiting.push(response);
  }
}
