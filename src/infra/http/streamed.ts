/**
 * Long replies, serialized in slices while they are sent: the main thread is not blocked, and the
 * client limits the rate.
 */
import { Readable } from 'node:stream';
import type { Clock } from '../clock/clock.ts';
import { Slices } from '../clock/slices.ts';
import type { RouteResponse } from './route.ts';

const CHUNK_LENGTH = 16 * 1024;
/** Shorter lists are serialized at once, and so are values below this depth. */
const LONG_LIST = 16;
const DEEPEST = 3;

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Resolves in a turn of the event loop that no other reply uses: together, any number of replies
 * takes one slice of the main thread in a turn.
 */
function nextTurn(clock: Clock): Promise<void> {
  lastTurn = lastTurn.then(() => clock.turn());
  return lastTurn;
}

/** JSON of a value that may be large. */
export function streamedJson(body: unknown, clock: Clock): RouteResponse {
  return streamed(jsonPieces(body, '', 0), 'application/json; charset=utf-8', clock);
}

/** JSON of a list whose items are created while they are sent. */
export function streamedList(items: Iterable<unknown>, clock: Clock): RouteResponse {
  return streamed(listPieces(items), 'application/json; charset=utf-8', clock);
}

export function streamedText(
  pieces: Iterable<string>,
  clock: Clock,
  contentType = 'text/plain; charset=utf-8',
): RouteResponse {
  return streamed(pieces, contentType, clock);
}

function streamed(pieces: Iterable<string>, contentType: string, clock: Clock): RouteResponse {
  const chunks = inChunks(pieces, clock);
  return { status: 200, body: Readable.from(chunks, { objectMode: false }), contentType };
}

async function* inChunks(
  pieces: Iterable<string>,
  clock: Clock,
): AsyncGenerator<string, void, void> {
  const slices = new Slices(clock);
  let chunk = '';
  await nextTurn(clock);
  for (const piece of pieces) {
    if (slices.due()) await nextTurn(clock);
    chunk += piece;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
    await nextTurn(clock);
  }
  // Text ends with a line break already, JSON does not.
  yield chunk.endsWith('\n') ? chunk : `${chunk}\n`;
}

function* listPieces(items: Iterable<unknown>): Generator<string, void, void> {
  let before = '[\n';
  for (const item of items) {
    yield `${before}  `;
    yield* jsonPieces(item, '  ', 1);
    before = ',\n';
  }
  yield before === '[\n' ? '[]' : '\n]';
}

/**
 * The same text as that of `JSON.stringify` with an indent of two.
 * @param indent of the line in which it begins
 * @param depth of the value in its document: values deep inside are one piece each, but for long lists
 */
export function* jsonPieces(
  value: unknown,
  indent: string,
  depth: number,
): Generator<string, void, void> {
  const plain = plainOf(value);
  const inner = `${indent}  `;
  if (Array.isArray(plain) && (plain.length > LONG_LIST || depth < DEEPEST) && plain.length > 0) {
    let before = '[\n';
    for (const item of plain) {
      yield before + inner;
      yield* jsonPieces(item, inner, depth + 1);
      before = ',\n';
    }
    yield `\n${indent}]`;
  } else if (typeof plain === 'object' && plain && !Array.isArray(plain) && depth < DEEPEST) {
    let before = '{\n';
    for (const [name, field] of Object.entries(plain)) {
      if (field === undefined) continue;
      yield `${before}${inner}${JSON.stringify(name)}: `;
      yield* jsonPieces(field, inner, depth + 1);
      before = ',\n';
    }
    yield before === '{\n' ? '{}' : `\n${indent}}`;
  } else yield textOf(plain).replaceAll('\n', `\n${indent}`);
}

function plainOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value;
  return typeof value.toJSON === 'function' ? value.toJSON() : value;
}

/** Converts values without JSON form to text, such as a bigint in the metadata of a descriptor. */
function textOf(plain: unknown): string {
  try {
    return JSON.stringify(plain, undefined, 2) ?? 'null';
  } catch {
    return JSON.stringify(String(plain));
  }
}
