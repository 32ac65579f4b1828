import type { BpfMap } from '../bpf/map.ts';
import { flowCounters } from './layout.ts';

/** Numbers that programs and agents count, since the map was made. */
export class FlowCounters {
  readonly #map: Pick<BpfMap, 'get' | 'set'>;

  constructor(map: Pick<BpfMap, 'get' | 'set'>) {
    this.#map = map;
  }

  get(name: keyof typeof flowCounters): number {
    return Number(this.#map.get(keyOf(name))?.readBigUInt64LE() ?? 0n);
  }

  /** Of a number that no program counts. */
  set(name: 'removed', value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    this.#map.set(keyOf(name), bytes);
  }
}

function keyOf(name: keyof typeof flowCounters): Buffer {
  const key = Buffer.alloc(4);
  key.writeUInt32LE(flowCounters[name]);
  return key;
}
