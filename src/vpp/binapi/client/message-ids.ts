import type { Catalog, Service } from '../catalog.ts';
import type { MessageCodec } from '../codec/codec.ts';

/** The message IDs of the connected VPP, and which of the used messages it supports. */
export class MessageIds {
  /** `<name>_<crc>` of the used messages that this VPP lacks. */
  readonly missing: readonly string[];
  readonly #ids = new Map<MessageCodec, number>();
  readonly #codecs: (MessageCodec | undefined)[] = [];
  readonly #supported: ReadonlyMap<string, Service>;

  constructor(
    catalog: Catalog,
    entries: readonly { readonly index: number; readonly name: string }[],
  ) {
    const byName = new Map(entries.map(({ index, name }) => [name, index]));
    const missing: string[] = [];
    for (const codec of catalog.codecs.values()) {
      const id = byName.get(codec.tableName);
      if (id === undefined) missing.push(codec.tableName);
      else {
        this.#ids.set(codec, id);
        this.#codecs[id] = codec;
      }
    }
    this.missing = missing;
    this.#supported = new Map(
      [...catalog.services].filter(([, service]) =>
        codecsOf(service).every((codec) => this.#ids.has(codec)),
      ),
    );
  }

  /** The message must be one that this VPP supports. */
  id(codec: MessageCodec): number {
    return this.#ids.get(codec)!;
  }

  codec(id: number): MessageCodec | undefined {
    return this.#codecs[id];
  }

  /** Undefined unless VPP supports the request and all its answers. */
  service(name: string): Service | undefined {
    return this.#supported.get(name);
  }
}

function codecsOf(service: Service): MessageCodec[] {
  return Object.values(service).filter((member) => typeof member !== 'string');
}
