import type { VppClient } from '../../binapi/api.ts';

/**
 * The number under which this VPP files the routes that were added over its API: asked once in a
 * life of VPP.
 */
export class ApiFibSource {
  readonly #client: VppClient;
  #generation = -1;
  #source: Promise<number | undefined> = Promise.resolve(undefined);

  constructor(client: VppClient) {
    this.#client = client;
  }

  /** Undefined when VPP has no source of that name. */
  get(): Promise<number | undefined> {
    const generation = this.#client.generation;
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#source = this.#ask();
      // a failure is the caller's to see; the next call asks again
      this.#source.catch(() => {
        this.#generation = -1;
      });
    }
    return this.#source;
  }

  async #ask(): Promise<number | undefined> {
    const sources = await this.#client.dump('fib_source_dump', {});
    return sources.find(({ src }) => src.name === 'API')?.src.id;
  }
}
