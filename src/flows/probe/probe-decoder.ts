import { readMessage } from './ipfix-message.ts';
import { addressLength, type ProbedFlow, readRecord, recordLength } from './probed-flow.ts';

const TEMPLATES = 2;
const FIRST_DATA = 256;
/** VPP sends three at most. */
const MAX_TEMPLATES = 16;
/** A message with a number so far below the expected one is of a VPP that counts from zero again; others were overtaken. */
const MAX_LATE = 32;

/**
 * Messages of flowprobe. VPP numbers messages, not records as RFC 7011 asks for, and frames without IP have a set with the number 0.
 */
export class ProbeDecoder {
  /** Length of addresses by template; 0: of no interest. */
  readonly #templates = new Map<number, 4 | 16 | 0>();
  #next: number | undefined;
  #missing = 0;
  #mostMissing = 0;
  #refused = 0;

  /** Messages that did not arrive, or whose template is not known yet. It never falls: messages that are late are few. */
  get lost(): number {
    this.#mostMissing = Math.max(this.#mostMissing, this.#missing);
    return this.#mostMissing;
  }

  /** Messages that are not of flowprobe. */
  get refused(): number {
    return this.#refused;
  }

  decode(bytes: Buffer, take: (flow: ProbedFlow) => void): void {
    const message = readMessage(bytes);
    if (message === undefined) {
      this.#refused++;
      return;
    }
    for (const { id, bytes: set } of message.sets)
      if (id === TEMPLATES) this.#learn(set);
      else {
        this.#count(message.sequence);
        if (id >= FIRST_DATA) this.#read(id, set, take);
      }
  }

  /** Another message refused, before it was read. */
  refuse(): void {
    this.#refused++;
  }

  #learn(set: Buffer): void {
    if (set.length < 4) return;
    const id = set.readUInt16BE(0);
    const fields = set.readUInt16BE(2);
    if (id < FIRST_DATA || set.length !== 4 + 4 * fields) return;
    const elements = Array.from(
      { length: fields },
      (_, at) => [set.readUInt16BE(4 + 4 * at), set.readUInt16BE(6 + 4 * at)] as const,
    );
    if (this.#templates.size >= MAX_TEMPLATES) this.#templates.clear();
    this.#templates.set(id, addressLength(elements) ?? 0);
  }

  #read(id: number, set: Buffer, take: (flow: ProbedFlow) => void): void {
    const address = this.#templates.get(id);
    if (address === undefined) this.#missing++;
    if (!address) return;
    const length = recordLength(address);
    for (let at = 0; at + length <= set.length; at += length) {
      const flow = readRecord(set.subarray(at, at + length), address);
      if (flow) take(flow);
    }
  }

  /** Workers of VPP share the numbers, and their messages overtake each other. */
  #count(sequence: number): void {
    const ahead = this.#next === undefined ? 0 : (sequence - this.#next) | 0;
    if (ahead > 0) this.#missing += ahead;
    if (ahead < 0 && ahead > -MAX_LATE) this.#missing = Math.max(0, this.#missing - 1);
    else this.#next = (sequence + 1) >>> 0;
  }
}
