import type { VppClient } from '../../binapi/api.ts';

/**
 * The ID of the FIB source of routes that were added over VPP's API. It is read once per start of VPP.
 */
export class ApiFibSource {
  readonly #client: VppClient;
  #generation = -1;
  #source: Promise<number | undefined> = Promise.resolve(undefined);

  constructor(client: VppClient) {
    this.#client = client;
  }

  /** Undefined if VPP has no source of that name. */
  get(): Promise<number | undefined> {
    const generation = this.#client.generation;
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#source = this.#read();
      // the caller handles a failure; the next call reads again
      this.#source.catch(() => {
        this.#generation = -1;
      });
    }
    return this.#source;
  }

  async #read(): Promise<number | undefined> {
    const sources = await this.#client.dump('fib_source_dump', {});
    return sources.find(({ src }) => src.name === 'API')?.src.id;
  }
}
