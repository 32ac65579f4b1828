import assert from 'node:assert/strict';

/** Comparisons, counted fact by fact: a line is one, and so is that there are no further lines. */
export class Checks {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  same(where: string, seen: unknown, expected: unknown): void {
    const facts = typeof expected === 'object' && expected ? Object.keys(expected).length : 0;
    this.#count += 1 + facts;
    assert.deepEqual(seen, expected, where);
  }
}
