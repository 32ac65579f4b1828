import type { Barrier } from './operation.ts';

/** Operations that precede others, which share a barrier: each of them would else wait for each of these. */
export class Precedence {
  #barrier: Barrier | undefined;
  /** Positions of the operations since the barrier was made. */
  #added: number[] = [];

  add(position: number): void {
    this.#added.push(position);
  }

  /** The barrier behind all operations so far. */
  barrier(): Barrier {
    if (this.#barrier && this.#added.length === 0) return this.#barrier;
    this.#barrier = { waits: this.#added, barriers: this.#barrier ? [this.#barrier] : [] };
    this.#added = [];
    return this.#barrier;
  }
}
