import type { VppClient } from '../../binapi/api.ts';

export interface FibSources {
  /** ID of the source of routes that were added over VPP's API. */
  readonly api: number;
  /** ID of the source of what cnat puts before routes; undefined: VPP has none. */
  readonly cnat: number | undefined;
  /** Whether routes of this source take effect instead of those of the API. */
  precedesApi(source: number): boolean;
}

/** The sources of the routes in VPP. They are read once per start of VPP. */
export class FibSourceReader {
  readonly #client: VppClient;
  #generation = -1;
  #sources: Promise<FibSources | undefined> = Promise.resolve(undefined);

  constructor(client: VppClient) {
    this.#client = client;
  }

  /** Undefined if VPP has no source of its API. */
  get(): Promise<FibSources | undefined> {
    const generation = this.#client.generation;
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#sources = this.#read();
      // the caller handles a failure; the next call reads again
      this.#sources.catch(() => {
        this.#generation = -1;
      });
    }
    return this.#sources;
  }

  async #read(): Promise<FibSources | undefined> {
    const dumped = await this.#client.dump('fib_source_dump', {});
    const sources = dumped.map(({ src }) => src);
    const api = sources.find(({ name }) => name === 'API');
    if (api === undefined) return undefined;
    const preceding = new Set(
      sources.filter(({ priority }) => priority < api.priority).map(({ id }) => id),
    );
    const cnat = sources.find(({ name }) => name === 'cnat')?.id;
    return { api: api.id, cnat, precedesApi: (source) => preceding.has(source) };
  }
}
