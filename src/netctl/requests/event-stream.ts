/** Server-sent events from the bytes of a reply. */
import type { ServerSentEvent } from '../command.ts';

export async function* eventsOf(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void, void> {
  let event = '';
  let data: string[] = [];
  let id: string | undefined;
  for await (const line of linesOf(pieces)) {
    if (line === '') {
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n'), id };
      event = '';
      data = [];
      continue;
    }
    const [, name = '', value = ''] = /^([^:]*)(?::\s?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
  }
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    yield* lines;
  }
}
