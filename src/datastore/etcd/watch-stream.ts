import type { IDuplexStream, IWatchRequest, IWatchResponse } from 'etcd3';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { WatchLostError } from '../api.ts';
import { prefixEnd, prefixStart } from '../keys.ts';

type Stream = IDuplexStream<IWatchRequest, IWatchResponse>;

/** How often a stream has to show that it still lives. */
const PROGRESS_REQUEST_MS = 10_000;

/** One watch stream of etcd from its creation to its end. */
export class WatchStream {
  readonly #stream: Stream;
  readonly #ended: Promise<never>;
  #end: (reason: unknown) => void = () => undefined;
  #created: () => void = () => undefined;
  /** What came before somebody reads. */
  #waiting: IWatchResponse[] = [];
  #reader: ((response: IWatchResponse) => void) | undefined;
  #over = false;
  #timer: Timer | undefined;
  /** Something came since the last question. */
  #heard = false;
  /** etcd answers questions for the progress; before 3.4 it does not. */
  #answers = false;

  /** @param signal ends the stream */
  constructor(stream: Stream, signal: AbortSignal) {
    this.#stream = stream;
    this.#ended = new Promise<never>((_resolve, reject) => {
      this.#end = reject;
    });
    // Whoever waits gets the reason; nobody may be waiting when the stream breaks.
    this.#ended.catch(() => undefined);
    const abort = () => this.end(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    stream.on('data', (response) => this.#receive(response));
    stream.on('error', (error) => this.end(error));
    stream.on('end', () => this.end(new Error('etcd ended the watch stream')));
    void this.#ended.catch(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  }

  /** Asks for the changes of a prefix from a revision on; resolves when etcd has agreed. */
  async create(prefix: string, revision: number, clock: Clock, timeoutMs: number): Promise<void> {
    const timer = clock.timer(timeoutMs, () => this.end(new Error('no answer to the watch')));
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
   * Ends the stream when it falls silent. etcd is asked again and again how far it is, which it
   * answers at once. If it does not, it may be out of reach, and another stream can go on from here.
   * But if it answers everything except for this stream, then its word on changes is not to be
   * trusted: the watch is lost.
   * @param alive rejects when etcd does not answer
   */
  detectSilence(clock: Clock, limitMs: number, alive: () => Promise<void>): void {
    const later = (ms: number, next: () => void): void => {
      if (!this.#over) this.#timer = clock.timer(ms, next);
    };
    const ask = (): void => {
      this.#heard = false;
      this.#stream.write({ progress_request: {} });
      later(limitMs, judge);
    };
    const judge = (): void => {
      if (this.#heard || !this.#answers) {
        later(PROGRESS_REQUEST_MS, ask);
        return;
      }
      alive().then(
        () => later(limitMs, condemn),
        (reason) => this.end(reason),
      );
    };
    const condemn = (): void => {
      if (this.#heard) later(PROGRESS_REQUEST_MS, ask);
      else this.end(new WatchLostError('the watch fell silent while etcd answers'));
    };
    ask();
  }

  /** Hands over what has come and what comes; rejects when the stream ends. */
  async read(reader: (response: IWatchResponse) => void): Promise<never> {
    for (const response of this.#waiting.splice(0)) if (!this.#over) reader(response);
    this.#reader = reader;
    return await this.#ended;
  }

  /** Ends the stream; nothing is handed over any more. */
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
      this.end(new WatchLostError(text));
      return;
    }
    if (response.created) this.#created();
    else if (response.events.length === 0) this.#answers = true;
    if (response.events.length === 0) return;
    if (this.#reader) this.#reader(response);
    else this.#waiting.push(response);
  }
}
