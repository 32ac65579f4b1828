import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import type { Interfaces } from './interfaces.ts';
import { retval } from './retval.ts';

const { NAT_IS_INSIDE: inside, NAT_IS_OUTSIDE: outside } = NatConfigFlags;

/** NAT44 features of interfaces: inside, outside, output feature. */
export class NatFeatures {
  readonly #interfaces: Interfaces;
  /** Inside and outside flags by interface. */
  readonly #sides = new Map<number, number>();
  readonly #outputs = new Set<number>();

  constructor(interfaces: Interfaces) {
    this.#interfaces = interfaces;
    interfaces.onRemove(({ index }) => {
      this.#sides.delete(index);
      this.#outputs.delete(index);
    });
  }

  clear(): void {
    this.#sides.clear();
    this.#outputs.clear();
  }

  setSide(index: number, flags: number, isAdd: boolean): number {
    const side = flags & inside ? inside : outside;
    const known = this.#sides.get(index);
    if (isAdd) {
      if (this.#outputs.has(index)) return retval.VALUE_EXIST;
      this.#sides.set(index, (known ?? 0) | side);
      return 0;
    }
    if (known === undefined) return retval.NO_SUCH_ENTRY;
    // a feature of the other side alone is lost, as in VPP
    if (known === (inside | outside)) this.#sides.set(index, known & ~side);
    else this.#sides.delete(index);
    return 0;
  }

  setOutput(index: number, isAdd: boolean): number {
    if (!isAdd) return this.#outputs.delete(index) ? 0 : retval.NO_SUCH_ENTRY;
    if (this.#sides.has(index) || this.#outputs.has(index)) return retval.VALUE_EXIST;
    this.#outputs.add(index);
    return 0;
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
