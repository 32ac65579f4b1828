import type { Catalog, Service } from '../catalog.ts';
import type { MessageCodec } from '../codec/codec.ts';

/** Which of the messages in use the connected VPP has, and under which id. */
export class MessageIds {
  /** `<name>_<crc>` of what we speak and this VPP does not. */
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

  /** The message must be one that this VPP has. */
  id(codec: MessageCodec): number {
    return this.#ids.get(codec)!;
  }

  codec(id: number): MessageCodec | undefined {
    return this.#codecs[id];
  }

  /** Undefined unless the request and everything that answers it are there. */
  service(name: string): Service | undefined {
    return this.#supported.get(name);
  }
}

function codecsOf(service: Service): MessageCodec[] {
  return Object.values(service).filter((part) => typeof part !== 'string');
}
