import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import type { FeatureArcs } from './feature-arcs.ts';
import type { Interfaces } from './interfaces.ts';
import { retval } from './retval.ts';

const { NAT_IS_INSIDE: inside, NAT_IS_OUTSIDE: outside } = NatConfigFlags;

const CLASSIFY = 'nat44-ed-classify';
const REASSEMBLY = 'ip4-sv-reassembly-feature';
const outputNodes = ['ip4-sv-reassembly-output-feature', 'nat-pre-in2out-output'] as const;

/** The node of an interface with this side alone. */
function nodeOf(side: number): string {
  return side === inside ? 'nat-pre-in2out' : 'nat-pre-out2in';
}

function other(side: number): number {
  return side === inside ? outside : inside;
}

/** NAT44 features of interfaces: inside, outside, output feature. */
export class NatFeatures {
  readonly #interfaces: Interfaces;
  readonly #arcs: FeatureArcs;
  /** Inside and outside flags by interface. */
  readonly #sides = new Map<number, number>();
  readonly #outputs = new Set<number>();

  constructor(interfaces: Interfaces, arcs: FeatureArcs) {
    this.#interfaces = interfaces;
    this.#arcs = arcs;
    interfaces.onRemove(({ index }) => {
      this.#sides.delete(index);
      this.#outputs.delete(index);
    });
  }

  /** NAT44 is disabled. */
  clear(): void {
    for (const [index, flags] of this.#sides)
      for (const side of [inside, outside]) if (flags & side) this.setSide(index, side, false);
    for (const index of [...this.#outputs]) this.setOutput(index, false);
  }

  setSide(index: number, flags: number, isAdd: boolean): number {
    const side = flags & inside ? inside : outside;
    const known = this.#sides.get(index);
    if (isAdd) {
      if (this.#outputs.has(index)) return retval.VALUE_EXIST;
      if (known === undefined) this.#set(index, nodeOf(side), true);
      else if (known & side) return 0;
      else {
        this.#set(index, nodeOf(other(side)), false);
        this.#set(index, CLASSIFY, true);
      }
      this.#sides.set(index, (known ?? 0) | side);
      if (known === undefined) this.#set(index, REASSEMBLY, true);
      return 0;
    }
    if (known === undefined) return retval.NO_SUCH_ENTRY;
    if (known === (inside | outside)) {
      this.#set(index, CLASSIFY, false);
      this.#set(index, nodeOf(other(side)), true);
      this.#sides.set(index, known & ~side);
    } else {
      // a feature of the other side alone is lost, as in VPP, which leaves its node enabled
      this.#set(index, nodeOf(side), false);
      this.#set(index, REASSEMBLY, false);
      this.#sides.delete(index);
    }
    return 0;
  }

  #set(index: number, node: string, isOn: boolean): void {
    this.#arcs.set(index, 'ip4-unicast', node, isOn);
  }

  setOutput(index: number, isAdd: boolean): number {
    if (!isAdd) {
      if (!this.#outputs.delete(index)) return retval.NO_SUCH_ENTRY;
      this.#setOutputNodes(index, false);
      return 0;
    }
    if (this.#sides.has(index) || this.#outputs.has(index)) return retval.VALUE_EXIST;
    this.#outputs.add(index);
    this.#setOutputNodes(index, true);
    return 0;
  }

  #setOutputNodes(index: number, isOn: boolean): void {
    for (const node of [nodeOf(outside), REASSEMBLY]) this.#set(index, node, isOn);
    for (const node of outputNodes) this.#arcs.set(index, 'ip4-output', node, isOn);
  }

  dumpSides() {
    return [...this.#sides].map(([sw_if_index, flags]) => ({ sw_if_index, flags }));
  }

  dumpOutputs() {
    return [...this.#outputs].map((sw_if_index) => ({ sw_if_index }));
  }

  snapshot(): readonly string[] {
    const name = (index: number) => this.#interfaces.nameOf(index);
    return [
      ...[...this.#sides].map(
        ([index, flags]) =>
          `${name(index)}${flags & inside ? ' in' : ''}${flags & outside ? ' out' : ''}`,
      ),
      ...[...this.#outputs].map((index) => `${name(index)} output`),
    ].sort();
  }
}
