/** Objects of the Kubernetes API server. */

import type { Clock } from '#infra/clock/clock.ts';
import { ApiClient } from '#ksr/api-server/api-client.ts';
import type { ApiRequest, ApiTransport } from '#ksr/api-server/transport.ts';

/** Objects per request: some megabytes. */
const PAGE = 500;

interface Page {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly unknown[];
}

export class KubernetesApi {
  readonly #client: ApiClient;
  readonly #silenceMs: number;

  /** @param silenceMs without a response, or without further bytes of it, after which a request fails */
  constructor(transport: ApiTransport, silenceMs: number, clock: Clock) {
    this.#client = new ApiClient(transport, clock);
    this.#silenceMs = silenceMs;
  }

  /** @throws CodedError, also when there is no such object */
  async get<T>(path: string, signal: AbortSignal): Promise<T> {
    return await this.#send<T>({ method: 'GET', path, query: {} }, signal);
  }

  /** The objects of a kind, page by page. @throws CodedError */
  async *list<T>(
    path: string,
    signal: AbortSignal,
    selection: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<T, void, void> {
    let rest: string | undefined;
    do {
      const query = { ...selection, limit: String(PAGE), ...(rest && { continue: rest }) };
      const page: Page = await this.#send<Page>({ method: 'GET', path, query }, signal);
      yield* (page.items ?? []) as readonly T[];
      rest = page.metadata?.continue;
    } while (rest);
  }

  /** @returns the object as the server has completed it. @throws CodedError */
  async create<T>(path: string, object: object, signal: AbortSignal): Promise<T> {
    const body = JSON.stringify(object);
    return await this.#send<T>({ method: 'POST', path, query: {}, body }, signal);
  }

  /** @throws CodedError, also when there is no such object */
  async delete(path: string, signal: AbortSignal): Promise<void> {
    await this.#send({ method: 'DELETE', path, query: {} }, signal);
  }

  async #send<T>(request: ApiRequest, signal: AbortSignal): Promise<T> {
    const pieces: Uint8Array[] = [];
    const limits = { silenceMs: this.#silenceMs, signal };
    for await (const piece of this.#client.read(request, limits)) pieces.push(piece);
    return JSON.parse(Buffer.concat(pieces).toString()) as T;
  }
}
