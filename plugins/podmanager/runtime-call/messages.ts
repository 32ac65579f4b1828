/**
 * The messages between contiv-cni and the agent, as src/cmd/cni/agent.h describes them: one byte with the
 * kind, the length of the body in four bytes, the body.
 */
import type { Variables } from './environment.ts';
import type { PluginEnd } from './ipam-plugin.ts';

/** The first bytes of contiv-cni. */
export const PREFACE = Buffer.from('CNI1');

export const kinds = { call: 'C', plugin: 'P', ended: 'E', result: 'R' } as const;

const HEAD_BYTES = 5;

/** A configuration has at most 8 MiB, the variables have the rest. */
export const MAX_BODY_BYTES = 9 << 20;

const NUL = '\0';

export interface Message {
  readonly kind: string;
  readonly body: Buffer;
}

/** A client that is not the contiv-cni of this agent. */
export class ProtocolError extends Error {}

/** Divides received bytes into messages. */
export class MessageReader {
  #pieces: Buffer[] = [];
  #size = 0;
  #hasPreface = false;
  /** Bytes without which nothing can be done. */
  #needed = PREFACE.length;

  /** @returns the messages that are complete now @throws ProtocolError */
  add(piece: Buffer): readonly Message[] {
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size < this.#needed) return [];
    const bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    const messages: Message[] = [];
    let at = this.#hasPreface ? 0 : this.#skipPreface(bytes);
    for (;;) {
      this.#needed = HEAD_BYTES;
      if (bytes.length - at < HEAD_BYTES) break;
      const size = bytes.readUInt32BE(at + 1);
      if (size > MAX_BODY_BYTES) throw new ProtocolError(`a message of ${size} bytes`);
      this.#needed = HEAD_BYTES + size;
      if (bytes.length - at < this.#needed) break;
      const body = bytes.subarray(at + HEAD_BYTES, at + this.#needed);
      messages.push({ kind: String.fromCharCode(bytes[at]!), body });
      at += this.#needed;
    }
    this.#pieces = [bytes.subarray(at)];
    this.#size = bytes.length - at;
    return messages;
  }

  #skipPreface(bytes: Buffer): number {
    if (!bytes.subarray(0, PREFACE.length).equals(PREFACE))
      throw new ProtocolError('an unknown protocol');
    this.#hasPreface = true;
    return PREFACE.length;
  }
}

export function encodeMessage(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(kind, 'latin1');
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

export interface CallBody {
  readonly environment: Variables;
  readonly input: string;
}

/** @throws ProtocolError */
export function decodeCall(body: Buffer): CallBody {
  const end = body[0] === 0 ? 0 : body.indexOf(NUL + NUL) + 1;
  if (end === 0 && body[0] !== 0) throw new ProtocolError('a call without an environment');
  const pairs = body.toString('utf8', 0, end).split(NUL).slice(0, -1);
  const environment = Object.fromEntries(
    pairs.map((pair) => {
      const [name = ''] = pair.split('=', 1);
      return [name, pair.slice(name.length + 1)];
    }),
  );
  return { environment, input: body.toString('utf8', end + 1) };
}

/** The file and the output of a plugin that could not be run are empty and the reason. @throws ProtocolError */
export function decodeEnded(body: Buffer): PluginEnd {
  const [end, number] = body;
  const pathEnd = body.indexOf(NUL, 2);
  if (number === undefined || pathEnd < 0) throw new ProtocolError('an end without a path');
  return {
    path: body.toString('utf8', 2, pathEnd),
    status: end === exited ? number : undefined,
    output: body.toString('utf8', pathEnd + 1),
  };
}

/** As in src/cmd/cni/plugin.h; the other kinds of an end have no status. */
const exited = 'x'.charCodeAt(0);

export function encodePlugin(name: string, command: string, input: string): Buffer {
  return encodeMessage(kinds.plugin, Buffer.from(name + NUL + command + NUL + input));
}

/** @param log further fields of the line in the log file */
export function encodeResult(status: number, log: object, output: string): Buffer {
  const fields = JSON.stringify(log).slice(1, -1);
  const text = (fields === '' ? '' : `,${fields}`) + NUL + output;
  return encodeMessage(kinds.result, Buffer.concat([Buffer.from([status]), Buffer.from(text)]));
}
