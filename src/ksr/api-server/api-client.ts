import type { Clock, Timer } from '#infra/clock/clock.ts';
import {
  ApiCredentialsError,
  ApiUnreachableError,
  connectionError,
  statusError,
} from './api-errors.ts';
import type { ApiRequest, ApiResponse, ApiTransport } from './transport.ts';

/** Of the text that explains a failure. */
const MAX_EXPLANATION_BYTES = 16_384;
/** A server that asks for more is asked again after this time. */
const MAX_PAUSE_MS = 300_000;

export interface RequestLimits {
  /** Milliseconds without a response or without further data, after which the request is aborted. */
  readonly silenceMs: number;
  /** For so long after the response began, silence is normal; default 0. */
  readonly quietMs?: number;
  readonly signal: AbortSignal;
}

/** Requests that succeed or fail with a coded error. */
export class ApiClient {
  readonly #transport: ApiTransport;
  readonly #clock: Clock;

  constructor(transport: ApiTransport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /**
   * Sends a request and passes on the body, piece by piece, when the status is 200, 201 or 202.
   * @param accepted called with the status line, before the first piece
   * @throws CodedError, or the reason of `limits.signal`
   */
  async *read(
    request: ApiRequest,
    limits: RequestLimits,
    accepted: () => void = () => undefined,
  ): AsyncGenerator<Uint8Array, void, void> {
    const silence = new SilenceLimit(this.#clock, limits.silenceMs, request.path);
    const unread = new AbortController();
    const signal = AbortSignal.any([limits.signal, silence.signal, unread.signal]);
    const failure = (thrown: unknown) => {
      if (limits.signal.aborted) return limits.signal.reason;
      // before the server was asked: it is not the server that was silent
      if (thrown instanceof ApiCredentialsError) return thrown;
      if (silence.signal.aborted) return silence.signal.reason;
      return connectionError(thrown, request.path);
    };
    let isComplete = false;
    try {
      const response = await this.#send(request, signal).catch((thrown) => {
        throw failure(thrown);
      });
      silence.answered(limits.quietMs ?? 0);
      accepted();
      try {
        for await (const piece of response.body) {
          silence.heard();
          yield piece;
        }
        isComplete = true;
      } catch (thrown) {
        throw failure(thrown);
      }
    } finally {
      silence.end();
      // The caller failed or stopped: the connection is of no further use.
      if (!isComplete) unread.abort();
    }
  }

  /** @throws CodedError unless the request succeeded */
  async #send(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const response = await this.#transport.send(request, signal);
    const { status } = response;
    // 202: a deletion that continues.
    if (status >= 200 && status <= 202) return response;
    const pauseSeconds = Number(response.retryAfter ?? 0);
    const pauseMs = pauseSeconds > 0 ? Math.min(MAX_PAUSE_MS, pauseSeconds * 1000) : 0;
    throw statusError(status, await explanation(response), request.path, pauseMs);
  }
}

/** Aborts a request that is silent for too long. */
class SilenceLimit {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #where: string;
  readonly #abort = new AbortController();
  #heardAt: number;
  /** Silence before this time is normal. */
  #quietUntil = 0;
  #timer: Timer;

  constructor(clock: Clock, ms: number, where: string) {
    this.#clock = clock;
    this.#ms = ms;
    this.#where = where;
    this.#heardAt = clock.monotonic();
    this.#timer = clock.timer(ms, () => this.#due());
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  answered(quietMs: number): void {
    this.heard();
    this.#quietUntil = this.#heardAt + quietMs;
  }

  heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  end(): void {
    this.#timer.cancel();
  }

  #due(): void {
    const began = Math.max(this.#heardAt, this.#quietUntil);
    const left = began + this.#ms - this.#clock.monotonic();
    if (left > 0) {
      this.#timer = this.#clock.timer(left, () => this.#due());
      return;
    }
    const seconds = Math.round((this.#clock.monotonic() - this.#heardAt) / 1000);
    const text = `the API server sent nothing for ${seconds} s`;
    this.#abort.abort(new ApiUnreachableError(text, { where: this.#where }));
  }
}

/** The message of the `Status` object in the body, or the beginning of another body. */
async function explanation({ body }: ApiResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_EXPLANATION_BYTES) break;
  }
  const text = Buffer.concat(pieces).toString().trim();
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not a `Status`: a proxy answered.
  }
  return text.slice(0, 200);
}
