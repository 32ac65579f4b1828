import { quantiles } from '../quantiles.ts';
import type { LargeAgentReport } from './messages.ts';
import type { Writer } from './writer.ts';

/** Times from the writes to the ends of their transactions in the agent. */
export class Delays {
  readonly #writer: Writer;
  readonly #values: number[] = [];

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  add({ processed }: LargeAgentReport): void {
    for (const [key, end] of processed) {
      const delay = this.#writer.taken(key, end);
      if (delay !== undefined) this.#values.push(delay);
    }
  }

  get text(): string {
    return quantiles(this.#values);
  }
}
