import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { defineError } from '#infra/errors/errors.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { StatusCheck } from '#infra/status/status.ts';
import { wireStatus } from '#infra/status/wire-status.ts';
import { KeySpace } from '#plugins/dbwatcher/key-space.ts';
import { retainedBytes } from '#test/support/retained-bytes.ts';

const UnavailableError = defineError({
  name: 'UnavailableError',
  code: 'CV_TEST_STATUS_UNAVAILABLE',
  isRetriable: true,
  remedy: 'None.',
});

const PREFIX = '/vnf-agent/node1/';

/** A store that records the writes, and does what the test says. */
class Target {
  readonly prefix = PREFIX;
  readonly writes: { at: number; entries: Record<string, string | undefined> }[] = [];
  answer: () => Promise<void> = async () => undefined;
  inFlight = 0;
  mostInFlight = 0;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  readonly putAll = async (entries: ReadonlyMap<string, string>): Promise<void> => {
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    const states = [...entries].map(([key, value]) => [
      key.slice(PREFIX.length),
      (JSON.parse(value) as { state?: string }).state,
    ]);
    this.writes.push({ at: this.#clock.monotonic(), entries: Object.fromEntries(states) });
    try {
      await this.answer();
    } finally {
      this.inFlight--;
    }
  };

  take() {
    return this.writes.splice(0);
  }
}

async function started(options: { log?: Logger; interval?: string; random?: number } = {}) {
  const clock = new ManualClock();
  const status = new StatusCheck(clock, { version: 'v0', date: '', commit: '' });
  const target = new Target(clock);
  const registry = new Registry();
  const component = wireStatus({
    config: { 'publish-interval': options.interval ?? '10s' },
    status,
    target,
    registry,
    clock,
    random: { next: () => options.random ?? 0.5, bytes: (length) => new Uint8Array(length) },
    log: options.log ?? silentLogger,
  });
  const controller = status.register('controller', 'liveness');
  const etcd = status.register('etcd', 'readiness');
  let problem: string | undefined;
  status.registerProblem('mirror', 'readiness', () => problem);
  await component.init?.();
  return {
    clock,
    status,
    target,
    registry,
    component,
    controller,
    etcd,
    setProblem: (text: string | undefined) => {
      problem = text;
    },
  };
}

const AGENT = 'check/status/v1/agent';
const plugin = (name: string) => `check/status/v1/plugin/${name}`;

describe('publication of the status', () => {
  it('writes everything at the start, then what changes, and as heartbeat the agent alone', async () => {
    const { clock, target, controller, etcd } = await started();
    await clock.advance(0);
    assert.deepEqual(target.take(), [
      {
        at: 0,
        entries: {
          [AGENT]: undefined,
          [plugin('controller')]: undefined,
          [plugin('etcd')]: undefined,
          [plugin('mirror')]: 'OK',
        },
      },
    ]);
    await clock.advance(2000);
    controller('ok');
    etcd('ok');
    await clock.advance(0);
    assert.deepEqual(target.take(), [
      {
        at: 2000,
        entries: { [AGENT]: 'OK', [plugin('controller')]: 'OK', [plugin('etcd')]: 'OK' },
      },
    ]);
    // the first heartbeat comes after a random part of the interval
    await clock.advance(23_000);
    assert.deepEqual(
      target.take(),
      [5000, 15_000, 25_000].map((at) => ({ at, entries: { [AGENT]: 'OK' } })),
    );
  });

  it('probes every 5 s, and publishes what has changed', async () => {
    const { clock, target, setProblem } = await started();
    await clock.advance(1000);
    target.take();
    setProblem('the disk is full');
    await clock.advance(3999);
    assert.deepEqual(target.take(), []);
    await clock.advance(1001);
    assert.deepEqual(
      target
        .take()
        .flatMap(({ entries }) => Object.entries(entries))
        .filter(([key]) => key === plugin('mirror')),
      [[plugin('mirror'), 'ERROR']],
    );
  });

  it('writes once a second at most for a component that fails again and again', async () => {
    const { clock, target, etcd } = await started();
    await clock.advance(1000);
    target.take();
    for (let n = 0; n < 1000; n++) {
      etcd(n % 2 === 0 ? 'error' : 'ok', `failure ${n}`);
      await clock.advance(10);
    }
    await clock.advance(1000);
    const writes = target.take();
    assert.ok(writes.length <= 13, `${writes.length} writes in 11 s`);
    assert.equal(
      writes.findLast(({ entries }) => plugin('etcd') in entries)!.entries[plugin('etcd')],
      'OK',
    );
  });

  it('queues nothing while the store does not answer, and then writes the latest state', async () => {
    const warnings: unknown[] = [];
    const log = { ...silentLogger, warn: (...all: unknown[]) => void warnings.push(all) };
    const { clock, target, etcd, controller, registry } = await started({ log });
    controller('ok');
    etcd('ok');
    await clock.advance(1000);
    target.take();
    target.answer = async () => {
      await clock.sleep(3000);
      throw new UnavailableError('no answer');
    };
    for (let n = 0; n < 600; n++) {
      etcd('error', `failure ${n}`);
      await clock.advance(100);
    }
    const during = target.take();
    // one that fails, then the heartbeats
    assert.ok(during.length <= 8, `${during.length} attempts in a minute`);
    assert.equal(target.mostInFlight, 1);
    target.answer = async () => undefined;
    etcd('ok');
    await clock.advance(13_000);
    const [first, ...heartbeats] = target.take();
    assert.deepEqual(first!.entries, { [AGENT]: 'OK', [plugin('etcd')]: 'OK' });
    for (const { entries } of heartbeats) assert.deepEqual(Object.keys(entries), [AGENT]);
    assert.deepEqual(warnings, [], 'the component etcd reports that it is unavailable');
    const failed = /^contiv_status_publication_failures_total (\d+)$/m.exec(
      await registry.metrics(),
    );
    assert.equal(Number(failed![1]), during.length);
  });

  it('says once that the store refuses it', async () => {
    const logged: unknown[] = [];
    const log = {
      ...silentLogger,
      warn: (...all: unknown[]) => void logged.push(all.at(-1)),
      info: (...all: unknown[]) => void logged.push(all.at(-1)),
    };
    const { clock, target } = await started({ log });
    target.answer = async () => {
      throw new Error('permission denied');
    };
    await clock.advance(60_000);
    assert.deepEqual(logged, ['the status is not published']);
    target.answer = async () => undefined;
    await clock.advance(60_000);
    assert.deepEqual(logged, ['the status is not published', 'the status is published again']);
  });

  it('ends with the agent, after the write in flight; an interval of 0 publishes nothing', async () => {
    const { clock, target, component, etcd } = await started();
    const { promise, resolve } = Promise.withResolvers<void>();
    target.answer = () => promise;
    await clock.advance(0);
    let isClosed = false;
    const closed = Promise.resolve(component.close?.()).then(() => {
      isClosed = true;
    });
    await clock.turn();
    assert.equal(isClosed, false);
    resolve();
    await closed;
    etcd('error', 'late');
    await clock.advance(60_000);
    assert.equal(target.writes.length, 1);

    const off = await started({ interval: '0' });
    off.etcd('error', 'away');
    await off.clock.advance(60_000);
    assert.deepEqual(off.target.writes, []);
  });

  it('does not wake the watcher of the datastore: its keys are not watched', () => {
    const space = new KeySpace(PREFIX);
    for (const key of [AGENT, plugin('GOVPP')]) {
      assert.equal(space.find(PREFIX + key), undefined);
      assert.ok(space.prefixes.every((watched) => !(PREFIX + key).startsWith(watched)));
    }
  });
});

describe('a million reports of states', () => {
  it('leave nothing behind, also while the store does not answer', async () => {
    const { clock, target, registry, etcd, controller } = await started();
    target.answer = async () => {
      throw new UnavailableError('no answer');
    };
    const report = async (count: number) => {
      for (let n = 0; n < count; n++) {
        etcd(n % 2 === 0 ? 'error' : 'ok', `failure ${n % 1000}`);
        controller('ok');
        if (n % 1000 === 0) {
          await clock.advance(1000);
          await registry.metrics();
          target.take();
        }
      }
    };
    await report(20_000);
    const before = retainedBytes();
    await report(1_000_000);
    const growth = retainedBytes() - before;
    assert.ok(growth < 1_000_000, `${growth} bytes`);
    assert.ok(target.mostInFlight === 1);
  });
});

describe('metrics of the status', () => {
  it('name the component at fault, what it fails, and since when', async () => {
    const { clock, registry, controller, etcd } = await started({ interval: '0' });
    controller('ok');
    etcd('ok');
    await clock.advance(60_000);
    etcd('error', 'away');
    const text = await registry.metrics();
    const since = Date.UTC(2026, 0, 1) / 1000;
    const lines = [
      'contiv_agent_state 1',
      'contiv_component_state{component="controller",affects="liveness"} 1',
      'contiv_component_state{component="etcd",affects="readiness"} 2',
      `contiv_component_last_change_timestamp_seconds{component="controller"} ${since}`,
      `contiv_component_last_change_timestamp_seconds{component="etcd"} ${since + 60}`,
    ];
    for (const line of lines) assert.ok(text.split('\n').includes(line), `${line}\n${text}`);
  });
});
