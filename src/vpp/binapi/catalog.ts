/** The messages that one side of the API supports: their codecs and their answers. */
import { bundledDefinitions } from './bundled-definitions.ts';
import { MessageCodec } from './codec/codec.ts';
import { Layouts } from './codec/layout.ts';
import type { Definitions } from './definitions.ts';

/** How a request is answered: by one reply, by details, or by pages of details. */
export type Service =
  | { readonly kind: 'request'; readonly request: MessageCodec; readonly reply: MessageCodec }
  | { readonly kind: 'dump'; readonly request: MessageCodec; readonly details: MessageCodec }
  | {
      readonly kind: 'cursor';
      readonly request: MessageCodec;
      readonly details: MessageCodec;
      readonly reply: MessageCodec;
    };

export class Catalog {
  /** By message name, in the order of the definitions. */
  readonly codecs: ReadonlyMap<string, MessageCodec>;
  /** By the name of the request. */
  readonly services: ReadonlyMap<string, Service>;
  readonly events: ReadonlyMap<string, MessageCodec>;

  constructor(definitions: Definitions) {
    const layouts = new Layouts(definitions);
    const codecs = definitions.messages.map((message) => new MessageCodec(message, layouts));
    this.codecs = new Map(codecs.map((codec) => [codec.name, codec]));
    const services = new Map<string, Service>();
    const events = new Map<string, MessageCodec>();
    for (const [name, definition] of Object.entries(definitions.services)) {
      const request = this.#codec(name);
      for (const event of definition.events ?? []) events.set(event, this.#codec(event));
      if (definition.reply === 'null') continue;
      const answer = this.#codec(definition.reply);
      if (definition.stream_msg !== undefined) {
        const details = this.#codec(definition.stream_msg);
        services.set(name, { kind: 'cursor', request, details, reply: answer });
      } else if (definition.stream) services.set(name, { kind: 'dump', request, details: answer });
      else services.set(name, { kind: 'request', request, reply: answer });
    }
    this.services = services;
    this.events = events;
  }

  /** @throws Error when the definitions lack the message */
  codec(name: string): MessageCodec {
    return this.#codec(name);
  }

  #codec(name: string): MessageCodec {
    const codec = this.codecs.get(name);
    if (!codec) throw new Error(`no definition of message ${name}`);
    return codec;
  }
}

let bundled: Catalog | undefined;

/** The catalog of the bundled definitions, created on first use and shared. */
export function bundledCatalog(): Catalog {
  bundled ??= new Catalog(bundledDefinitions);
  return bundled;
}
