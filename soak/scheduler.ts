/**
 * A million changes on virtual time: pods with names that are never reused, changes of routes, failed
 * and retried operations, lost replies, notifications, resyncs. The memory of the scheduler must not
 * grow with the number of changes.
 */
import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor, RetrievedValue } from '#kvscheduler/api/descriptor.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { SchedulerMetrics } from '#kvscheduler/history/metrics.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';

export const NAME = 'scheduler: a million changes without growing memory';

const CHANGES = 1_000_000;
const FIRST_MEASURE = 100_000;
/** Permitted growth of memory from the first measurement to the end. */
const TOLERANCE = 0.1;
const PODS = 1_000;
const ROUTES = 2_000;

interface Route {
  readonly via: string;
  readonly weight: number;
}

const random = seededRandom(1);
const isDrawn = (probability: number): boolean => random.next() < probability;
const upTo = (limit: number): number => Math.floor(random.next() * limit);

class Timeout extends Error {
  readonly code = 'CV_VPP_TIMEOUT';
}

/** Executes an operation, fails, or executes it and loses the reply. */
class Southbound {
  readonly actual = new Map<string, Value>();
  /** Probability that an operation fails. */
  failureProbability = 0;
  #nextIndex = 1;

  descriptors(): AnyDescriptor[] {
    return [
      {
        ...this.#descriptor('interface', 'if/'),
        metadataFields: (index: number) => ({ index: [String(index)] }),
        derived: (key: string) => [{ key: `up/${key}`, value: { up: true } }],
        claims: (key: string) => [`name ${key}`],
      },
      {
        ...this.#descriptor('route', 'route/'),
        dependencies: (key: string, { via }: Route) => [
          { label: 'interface is up', key: `up/${via}` },
          // Only a few: such a value is evaluated for each change of a value with the prefix.
          ...(key.endsWith('00') ? [{ label: 'any', anyOf: { prefixes: ['if/'] } }] : []),
        ],
      },
    ];
  }

  #descriptor(kind: string, prefix: string): AnyDescriptor {
    return {
      name: kind,
      keyPrefixes: [prefix],
      nbKeyPrefix: prefix,
      typeName: `soak.${kind}`,
      create: (key: string, value: Value) => this.#operate(() => this.actual.set(key, value)),
      update: async (key: string, _before: Value, value: Value, index: number) => {
        await this.#operate(() => this.actual.set(key, value));
        return index;
      },
      delete: async (key: string) => {
        await this.#operate(() => this.actual.delete(key));
      },
      retrieve: async () => this.#retrieve(prefix),
    };
  }

  async #operate(execute: () => unknown): Promise<number> {
    const fails = isDrawn(this.failureProbability);
    if (fails && isDrawn(0.8)) throw new Error('injected failure');
    execute();
    if (fails) throw new Timeout('no reply');
    return this.#nextIndex++;
  }

  #retrieve(prefix: string): RetrievedValue[] {
    const found: RetrievedValue[] = [];
    for (const [key, value] of this.actual)
      if (key.startsWith(prefix))
        found.push({ key, value, metadata: this.#nextIndex++, origin: 'from-NB' });
    return found;
  }
}

/** Desired state of the northbound, and random changes of it. */
class NorthboundModel {
  readonly desired = new Map<string, Value>();
  readonly #pods: string[] = [];
  #nextPod = 0;

  /** Draws one to five changes and adds them to the desired state. */
  change(): Map<string, Value | null> {
    const values = new Map<string, Value | null>();
    const times = 1 + upTo(5);
    for (let i = 0; i < times; i++) {
      if (isDrawn(0.15)) this.#changePods(values);
      else this.#changeRoute(values);
    }
    for (const [key, value] of values)
      if (value === null) this.desired.delete(key);
      else this.desired.set(key, value);
    return values;
  }

  #changePods(values: Map<string, Value | null>): void {
    const key = `if/pod-${this.#nextPod++}`;
    this.#pods.push(key);
    values.set(key, { name: key, mtu: 1450 });
    const removed = this.#pods.length > PODS && this.#pods.shift();
    if (removed) values.set(removed, null);
  }

  #changeRoute(values: Map<string, Value | null>): void {
    const key = `route/10.${upTo(ROUTES)}`;
    const via = this.#pods[upTo(this.#pods.length)];
    if (via === undefined || isDrawn(0.1)) values.set(key, null);
    else values.set(key, { via, weight: upTo(1_000) } satisfies Route);
  }
}

const best = { description: 'soak', onFailure: 'best-effort' } as const;
const retry = { periodMs: 500, maxAttempts: 3, exponential: true };

/** Heap in use after garbage collection, in megabytes. */
async function memory(): Promise<number> {
  assert.ok(globalThis.gc, 'start node with --expose-gc (npm run soak)');
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed / 2 ** 20;
}

export async function run(print: (line: string) => void): Promise<void> {
  const clock = new ManualClock();
  const southbound = new Southbound();
  const registry = new Registry();
  const observer = new SchedulerMetrics(registry, () => scheduler, clock);
  const descriptors = southbound.descriptors();
  const scheduler: Scheduler = createScheduler({
    descriptors,
    clock,
    log: silentLogger,
    observer,
  });
  const northbound = new NorthboundModel();
  const measured: number[] = [];
  let done = 0;
  let transactions = 0;
  southbound.failureProbability = 0.01;
  while (done < CHANGES) {
    const values = northbound.change();
    await scheduler.commit({ ...best, mode: 'update', values, retry });
    if (isDrawn(0.05)) report(scheduler);
    if (isDrawn(0.001)) await resync(scheduler, northbound);
    await clock.advance(1_000);
    transactions++;
    const before = Math.floor(done / FIRST_MEASURE);
    done += values.size;
    if (Math.floor(done / FIRST_MEASURE) === before) continue;
    measured.push(await memory());
    const { historyBytes } = scheduler.load;
    print(
      [
        `${done} changes in ${transactions} transactions, ${Math.round(transactions / 3_600)} h`,
        `${measured.at(-1)?.toFixed(1)} MB in use`,
        `about ${(historyBytes / 2 ** 20).toFixed(1)} MB records`,
      ].join(': '),
    );
  }
  southbound.failureProbability = 0;
  await resync(scheduler, northbound);
  assertReconciled(scheduler, southbound, northbound);
  await scheduler.close();
  const [first = 0] = measured;
  const last = measured.at(-1) ?? 0;
  const more = last / first - 1;
  print(
    `${(more * 100).toFixed(1)} % more at the end than after the first ${FIRST_MEASURE} changes`,
  );
  assert.ok(more <= TOLERANCE, 'memory grows');
}

function report(scheduler: Scheduler): void {
  const key = `if/host-${upTo(50)}`;
  const value = isDrawn(0.5) ? { name: key, up: isDrawn(0.5) } : null;
  scheduler.pushNotification([{ key, value }]);
}

async function resync(scheduler: Scheduler, { desired }: NorthboundModel): Promise<void> {
  const mode = isDrawn(0.5) ? 'full-resync' : 'downstream-resync';
  const values = mode === 'full-resync' ? new Map(desired) : new Map<string, Value>();
  await scheduler.commit({ ...best, mode, values, retry });
}

/** The actual state equals the desired state, except for pending values. */
function assertReconciled(
  scheduler: Scheduler,
  { actual }: Southbound,
  { desired }: NorthboundModel,
): void {
  let pending = 0;
  for (const [key, value] of desired) {
    const { state } = scheduler.status(key).value;
    if (state === 'PENDING') pending++;
    else assert.equal(state, 'CONFIGURED', key);
    assert.deepEqual(actual.get(key), state === 'PENDING' ? undefined : value, key);
  }
  assert.equal(actual.size, desired.size - pending);
  assert.ok(pending < desired.size / 2, `${pending} of ${desired.size} are pending`);
}
