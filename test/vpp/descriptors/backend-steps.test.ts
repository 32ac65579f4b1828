/** Changes of the backends of a mapping, on a model of what VPP does with each step. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { DeepInput } from '#models/model.ts';
import { type DNat44StaticMapping, dnat44Model } from '#models/vpp/dnat44.ts';
import { backendSteps } from '#vpp/descriptors/nat44/backend-steps.ts';
import { backendEnd, MAX_BACKENDS, sharesOf } from '#vpp/descriptors/nat44/mapping.ts';

function mappingOf(shares: ReadonlyMap<number, number>, session_affinity = 0): DNat44StaticMapping {
  const local_ips = [...shares].map(([last, probability]) => ({
    local_ip: `10.1.1.${last}`,
    local_port: 80,
    probability,
  }));
  const mapping: DeepInput<DNat44StaticMapping> = {
    external_ip: '10.96.0.1',
    external_port: 80,
    session_affinity,
    local_ips,
  };
  return dnat44Model.canonical({ label: 's', st_mappings: [mapping] }).st_mappings[0]!;
}

/** VPP's list: a removed backend leaves a free position, and the next one takes the last such position. */
class Backends {
  readonly #positions: (string | undefined)[];
  readonly #shares: Map<string, number>;
  readonly #free: number[] = [];

  constructor(mapping: DNat44StaticMapping) {
    this.#shares = new Map(sharesOf(mapping));
    this.#positions = [...this.#shares.keys()];
  }

  get shares(): ReadonlyMap<string, number> {
    return this.#shares;
  }

  at(position: number): string | undefined {
    return this.#positions[position];
  }

  add(end: string, share: number): void {
    assert.ok(!this.#shares.has(end), `${end} is there`);
    this.#shares.set(end, share);
    this.#positions[this.#free.pop() ?? this.#positions.length] = end;
    this.#check();
  }

  remove(end: string): void {
    assert.ok(this.#shares.delete(end), `${end} is not there`);
    const position = this.#positions.indexOf(end);
    this.#positions[position] = undefined;
    this.#free.push(position);
    this.#check();
  }

  #check(): void {
    const sum = [...this.#shares.values()].reduce((a, b) => a + b, 0);
    assert.ok(this.#shares.size >= 2, 'VPP refuses to have fewer than two');
    assert.ok(this.#shares.size <= MAX_BACKENDS);
    assert.ok(sum > 0 && sum <= 255, `sum ${sum}`);
  }
}

function run(before: DNat44StaticMapping, after: DNat44StaticMapping): Backends | undefined {
  const steps = backendSteps(before, after);
  if (steps === undefined) return undefined;
  const backends = new Backends(before);
  for (const { isAdd, local, share } of steps) {
    if (isAdd) backends.add(backendEnd(local), share);
    else backends.remove(backendEnd(local));
  }
  return backends;
}

function sorted(shares: ReadonlyMap<string, number>): unknown {
  return [...shares].sort(([a], [b]) => (a < b ? -1 : 1));
}

const share = fc.oneof(fc.constant(2), fc.nat(3), fc.nat(300));
const backends = fc
  .uniqueArray(fc.tuple(fc.nat(12), share), {
    minLength: 2,
    maxLength: 9,
    selector: ([last]) => last,
  })
  .map((all) => new Map(all));

describe('the backends of a mapping are changed', () => {
  test('to what is desired, and are never too few, too many or without a share', () => {
    fc.assert(
      fc.property(backends, backends, fc.boolean(), (from, to, hasAffinity) => {
        const [before, after] = [from, to].map((each) => mappingOf(each, hasAffinity ? 60 : 0));
        const reached = run(before!, after!);
        if (reached !== undefined)
          assert.deepEqual(sorted(reached.shares), sorted(sharesOf(after!)));
      }),
      { numRuns: 2000 },
    );
  });

  test('without touching a backend that stays', () => {
    fc.assert(
      fc.property(backends, backends, (from, to) => {
        const [before, after] = [mappingOf(from), mappingOf(to)];
        const [old, fresh] = [sharesOf(before), sharesOf(after)];
        for (const { local } of backendSteps(before, after) ?? []) {
          const end = backendEnd(local);
          assert.ok(old.get(end) === undefined || old.get(end) !== fresh.get(end), end);
        }
      }),
    );
  });

  test('in place whenever all have the same share', () => {
    const lasts = fc.uniqueArray(fc.nat(254), { minLength: 2, maxLength: 120 });
    fc.assert(
      fc.property(lasts, lasts, (from, to) => {
        const of = (all: readonly number[]) => mappingOf(new Map(all.map((last) => [last, 2])));
        assert.ok(run(of(from), of(to)));
      }),
      { numRuns: 300 },
    );
  });

  test('so that a client with affinity is never sent to a removed one', () => {
    fc.assert(
      fc.property(backends, backends, (from, to) => {
        const before = mappingOf(from, 60);
        const after = mappingOf(to, 60);
        const reached = run(before, after);
        if (reached === undefined) return;
        const fresh = sharesOf(after);
        for (const [position, [end, chosen]] of [...sharesOf(before)].entries()) {
          if (chosen === 0) continue;
          const now = reached.at(position);
          assert.ok(now !== undefined && fresh.has(now), `position of ${end} leads to ${now}`);
          if (fresh.has(end)) assert.equal(now, end, 'a client changes its backend');
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('in the order: those that are new first', () => {
    const steps = backendSteps(
      mappingOf(
        new Map([
          [1, 1],
          [2, 1],
          [3, 1],
        ]),
      ),
      mappingOf(
        new Map([
          [3, 1],
          [4, 1],
        ]),
      ),
    );
    assert.deepEqual(
      steps?.map(({ isAdd, local }) => `${isAdd ? '+' : '-'}${local.local_ip}`),
      ['+10.1.1.4', '-10.1.1.1', '-10.1.1.2'],
    );
  });
});
