import type { ApiClient, RequestLimits } from './api-client.ts';
import { VersionExpiredError } from './api-errors.ts';
import { type ListEnvelope, ListParser } from './list-parser.ts';

const PAGE_OBJECTS = 500;
/** The API server itself ends a list after 60 s. */
const SILENCE_MS = 60_000;

export interface ListConsumer {
  /** The list begins, or begins again. */
  began(): void;
  objects(objects: readonly unknown[]): void;
}

/** Reads lists of one kind. */
export class ListReader {
  readonly #client: ApiClient;
  readonly #path: string;
  readonly #signal: AbortSignal;

  constructor(client: ApiClient, path: string, signal: AbortSignal) {
    this.#client = client;
    this.#path = path;
    this.#signal = signal;
  }

  /**
   * Reads all objects in pages. When the history of the server has moved past the list, the list is read
   * again as one page, which cannot expire. The server also offers to continue with newer objects, but
   * then no resource version exists from which a watch would report the changes of earlier pages.
   * @returns the resource version from which a watch continues
   */
  async read(consumer: ListConsumer): Promise<string> {
    try {
      return await this.#pages(consumer, PAGE_OBJECTS);
    } catch (thrown) {
      if (!(thrown instanceof VersionExpiredError)) throw thrown;
    }
    return this.#pages(consumer, undefined);
  }

  /** The present resource version of the server. */
  async version(): Promise<string> {
    const { resourceVersion } = await this.#page(
      { limit: '1' },
      () => undefined,
      () => undefined,
    );
    return resourceVersion;
  }

  async #pages(consumer: ListConsumer, limit: number | undefined): Promise<string> {
    const query = limit === undefined ? {} : { limit: String(limit) };
    const objects = (parsed: readonly unknown[]) => consumer.objects(parsed);
    let page = await this.#page(query, () => consumer.began(), objects);
    const { resourceVersion } = page;
    while (page.continue !== '')
      page = await this.#page({ ...query, continue: page.continue }, () => undefined, objects);
    return resourceVersion;
  }

  async #page(
    query: Readonly<Record<string, string>>,
    accepted: () => void,
    objects: (parsed: readonly unknown[]) => void,
  ): Promise<ListEnvelope> {
    const parser = new ListParser(this.#path);
    const limits: RequestLimits = { silenceMs: SILENCE_MS, signal: this.#signal };
    const request = { method: 'GET', path: this.#path, query } as const;
    for await (const piece of this.#client.read(request, limits, accepted)) {
      const parsed = parser.accept(piece);
      if (parsed.length > 0) objects(parsed);
    }
    return parser.end();
  }
}
