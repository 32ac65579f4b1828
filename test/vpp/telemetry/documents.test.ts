import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { answer } from '#infra/http/route.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { telemetryRoutes } from '#vpp/telemetry/routes.ts';
import { FakeStatistics } from './fake-statistics.ts';

const request = { query: {}, params: {}, body: undefined };

let statistics: FakeStatistics;
let clock: ManualClock;
let commands: string[];

beforeEach(() => {
  statistics = new FakeStatistics();
  clock = new ManualClock();
  commands = [];
});

function ask(path: string) {
  const client = {
    request: async (_name: string, { cmd }: { cmd: string }) => {
      commands.push(cmd);
      return { reply: `output of ${cmd}` };
    },
  } as unknown as VppClient;
  const routes = telemetryRoutes({ client, statistics, clock });
  const route = routes.find((one) => one.path === path)!;
  return () => answer(route, request);
}

describe('the documents of telemetry', () => {
  it('have the shapes of the original', async () => {
    statistics.found.nodeErrors = [{ node: 'ip4-input', reason: 'ip4 ttl <= 1', count: 3n }];
    statistics.found.nodes = [
      { index: 4, name: 'ip4-lookup', calls: 2n, vectors: 6n, suspends: 0n, clocks: 100n },
    ];
    const heap = { name: 'main heap', total: 100, used: 30, free: 70, trimmable: 60 };
    statistics.found.system = { ...statistics.found.system, heaps: [heap] };
    assert.deepEqual((await ask('/vpp/telemetry/nodecount')()).body, {
      counters: [{ value: 3, node: 'ip4-input', name: 'ip4 ttl <= 1' }],
    });
    const { threads } = (await ask('/vpp/telemetry/runtime')()).body as {
      threads: { id: number; name: string; items: unknown }[];
    };
    assert.equal(threads[0]?.name, 'ALL');
    assert.deepEqual(threads[0]?.items, [
      {
        index: 4,
        name: 'ip4-lookup',
        state: '',
        calls: 2,
        vectors: 6,
        suspends: 0,
        clocks: 100,
        vectors_per_call: 3,
      },
    ]);
    const memory = (await ask('/vpp/telemetry/memory')()).body as { threads: object[] };
    const { name, used, total, reclaimed } = memory.threads[0] as Record<string, unknown>;
    assert.deepEqual([name, used, total, reclaimed], ['vpp_main', 30, 100, 60]);
    assert.deepEqual((await ask('/stats/configurator')()).body, {
      AllOperations: { count: 0 },
      Operations: [],
    });
  });

  it('write null for an empty list, as Go does', async () => {
    assert.deepEqual((await ask('/vpp/telemetry/nodecount')()).body, { counters: null });
  });

  it('run the commands of VPP every 10 s for any number of clients', async () => {
    const read = ask('/vpp/telemetry');
    const replies = await Promise.all(Array.from({ length: 20 }, () => read()));
    assert.deepEqual((replies[19]!.body as object[])[1], {
      Command: 'show runtime',
      Output: 'output of show runtime',
    });
    assert.equal(commands.length, 6);
    await clock.advance(9_999);
    await read();
    assert.equal(commands.length, 6);
    await clock.advance(1);
    await read();
    assert.equal(commands.length, 12);
  });

  it('are an error while VPP cannot be read, and read again by the next request', async () => {
    const read = ask('/vpp/telemetry/memory');
    statistics.failure = new Error('no segment');
    assert.deepEqual(await read(), { status: 500, body: { Error: 'no segment' } });
    statistics.failure = undefined;
    assert.equal((await read()).status, 200);
  });
});
