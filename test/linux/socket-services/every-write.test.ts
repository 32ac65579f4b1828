/**
 * The table of the kernel at each of its writes: clients of an address get a backend that it had before the change or has
 * after it, wherever the agent ends, and the next resync repairs what is left then, or was deleted by another program.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { ManualClock } from '#infra/clock/manual.ts';
import { NamespaceNotFoundError } from '#linux/api.ts';
import type { Frontend, SocketMapping, SocketService } from '#linux/socket-services/api.ts';
import { KernelSocketTable } from '#linux/socket-services/kernel-table.ts';
import { encodeEndpoint } from '#linux/socket-services/layout.ts';
import { checkProperty } from '../../support/random-cases.ts';
import { idlePrograms } from './idle-programs.ts';
import { AgentEndedError, type MapName, MemoryMaps, type Reached } from './memory-maps.ts';
import {
  atDestinations,
  canonical,
  change,
  DesiredTable,
  someChange,
  type TableChange,
} from './some-services.ts';

const FILE = 'test/linux/socket-services/every-write.test.ts';

/** Of a namespace whose path ends in a number; others have ended. */
async function namespaceCookie(path = ''): Promise<bigint> {
  const [number] = /\d+$/.exec(path) ?? [];
  if (number === undefined) throw new NamespaceNotFoundError(path);
  return BigInt(number);
}

function startAgent({ maps, packets }: MemoryMaps, request = () => {}): KernelSocketTable {
  const clock = new ManualClock();
  return new KernelSocketTable({
    maps,
    namespaces: { namespaceCookie },
    clock,
    programs: idlePrograms,
    packets,
    stale: { request, failures: 0, connections: 0 },
  });
}

/** Backends that clients of each address have to reach. */
function expected({ services, nodes }: DesiredTable): Map<string, Reached> {
  return atDestinations(
    [...services.values()].flatMap(({ mappings }) =>
      mappings.flatMap(({ frontends, backends }) =>
        frontends.map((one): [Frontend, Reached] => [
          one,
          backends.length === 0
            ? 'refused'
            : new Set(backends.map(({ address, port }) => `${address} ${port}`)),
        ]),
      ),
    ),
    nodes.values(),
  );
}

function checkBetween(
  kernel: MemoryMaps,
  before: ReadonlyMap<string, Reached>,
  after: ReadonlyMap<string, Reached>,
): void {
  const now = kernel.reached();
  for (const address of new Set([...before.keys(), ...now.keys(), ...after.keys()])) {
    const reached = now.get(address);
    const both = [before.get(address), after.get(address)];
    if (reached === undefined || reached === 'refused') assert.ok(both.includes(reached), address);
    else
      for (const backend of reached) {
        const isOfOne = both.some((one) => one instanceof Set && one.has(backend));
        assert.ok(isOfOne, `${address} reaches ${backend}`);
      }
  }
}

/** Whether connected sockets of datagrams may have to connect again. */
function hasLost(
  before: ReadonlyMap<string, Reached>,
  after: ReadonlyMap<string, Reached>,
): boolean {
  return [...before].some(([address, reached]) => {
    const now = after.get(address);
    return (
      reached instanceof Set && !(now instanceof Set && [...reached].every((one) => now.has(one)))
    );
  });
}

/** As the scheduler does it in a resync. */
async function resync(table: KernelSocketTable, { services, nodes }: DesiredTable): Promise<void> {
  const found = new Map((await table.services()).map((one) => [one.name, one]));
  for (const name of found.keys()) if (!services.has(name)) await table.delete(name);
  for (const [name, service] of services) {
    const one = found.get(name);
    if (!one || !isDeepStrictEqual(canonical([one]), canonical([service])))
      await table.put(service);
  }
  const addresses = new Map((await table.nodeAddresses()).map((one) => [one.address, one]));
  for (const address of addresses.keys())
    if (!nodes.has(address)) await table.deleteNodeAddress(address);
  for (const [address, node] of nodes)
    if (!isDeepStrictEqual(addresses.get(address), node)) await table.putNodeAddress(node);
}

/** The agent counts entries without reading them. */
function checkCounts(kernel: MemoryMaps, table: KernelSocketTable): void {
  for (const { name, entries } of table.statistics().maps)
    if (name !== 'connections') assert.equal(entries, kernel.size(name as MapName), name);
}

async function checkSettled(
  kernel: MemoryMaps,
  table: KernelSocketTable,
  desired: DesiredTable,
): Promise<void> {
  checkCounts(kernel, table);
  assert.deepEqual(canonical(await table.services()), canonical(desired.services.values()));
  const nodes = new Map((await table.nodeAddresses()).map((one) => [one.address, one]));
  assert.deepEqual(nodes, desired.nodes);
  assert.deepEqual(kernel.reached(), expected(desired));
  assert.deepEqual(kernel.unused(), []);
}

const AT_EACH_WRITE = 'at each write clients get a backend of the time before or after it';

test(AT_EACH_WRITE, async () => {
  await checkProperty(
    { file: FILE, name: AT_EACH_WRITE },
    100,
    fc.asyncProperty(fc.array(someChange, { minLength: 2, maxLength: 10 }), async (changes) => {
      const kernel = new MemoryMaps();
      let requests = 0;
      const table = startAgent(kernel, () => requests++);
      let desired = new DesiredTable();
      for (const one of changes) {
        const before = expected(desired);
        desired = desired.with(one);
        const after = expected(desired);
        kernel.onWrite = () => checkBetween(kernel, before, after);
        requests = 0;
        await change(table, one);
        if (hasLost(before, after)) assert.notEqual(requests, 0, 'connected sockets are looked at');
      }
      await checkSettled(kernel, table, desired);
    }),
  );
});

const AGENT_ENDS = 'the next agent repairs what the end of one has left';

test(AGENT_ENDS, async () => {
  await checkProperty(
    { file: FILE, name: AGENT_ENDS },
    100,
    fc.asyncProperty(
      fc.array(fc.tuple(someChange, fc.nat(20)), { minLength: 2, maxLength: 8 }),
      async (changes) => {
        const kernel = new MemoryMaps();
        let table = startAgent(kernel);
        let desired = new DesiredTable();
        for (const [one, writes] of changes) {
          const before = expected(desired);
          desired = desired.with(one);
          const after = expected(desired);
          kernel.onWrite = () => checkBetween(kernel, before, after);
          kernel.writesLeft = writes;
          await change(table, one).catch((thrown: unknown) => {
            if (!(thrown instanceof AgentEndedError)) throw thrown;
          });
          kernel.writesLeft = Number.POSITIVE_INFINITY;
          table = startAgent(kernel);
          await resync(table, desired);
          await checkSettled(kernel, table, desired);
        }
      },
    ),
  );
});

const ENTRIES_DELETED = 'a resync repairs a table of which another program has deleted entries';
const someLoss = fc.tuple(
  fc.constantFrom<MapName>('frontends', 'nodes', 'groups', 'slots', 'members'),
  fc.nat(30),
);

test(ENTRIES_DELETED, async () => {
  await checkProperty(
    { file: FILE, name: ENTRIES_DELETED },
    100,
    fc.asyncProperty(
      fc.array(fc.tuple(someChange, fc.array(someLoss, { maxLength: 5 })), {
        minLength: 2,
        maxLength: 8,
      }),
      async (changes) => {
        const kernel = new MemoryMaps();
        let table = startAgent(kernel);
        let desired = new DesiredTable();
        for (const [one, losses] of changes) {
          desired = desired.with(one);
          await change(table, one);
          for (const [map, at] of losses) kernel.lose(map, at);
          if (losses.length % 2 === 0) table = startAgent(kernel);
          await resync(table, desired);
          await checkSettled(kernel, table, desired);
        }
      },
    ),
  );
});

const frontends = (port: number): readonly Frontend[] => [
  { address: '10.96.0.1', port, protocol: 'UDP', scope: 'ADDRESS' },
];
const mapping = (port: number, backends: number): SocketMapping => ({
  frontends: frontends(port),
  backends: Array.from({ length: backends }, (_, at) => ({
    address: `10.1.1.${at + 1}`,
    port: 8080,
    weight: 1,
  })),
  affinityTimeout: 0,
  hostSource: '',
});
const service = (name: string, ...mappings: readonly SocketMapping[]): SocketService => ({
  name,
  mappings,
});

async function apply(
  table: KernelSocketTable,
  desired: DesiredTable,
  one: TableChange,
): Promise<DesiredTable> {
  await change(table, one);
  return desired.with(one);
}

/** The error names the map and its size. */
function fullMap(name: string, entries: number): object {
  return { message: new RegExp(`map ${name} is full: it has ${entries} entries`), errno: 'E2BIG' };
}

describe('a full table', () => {
  for (const name of ['slots', 'members'] as const)
    test(`of ${name} refuses a service and keeps the place for others`, async () => {
      const isFull = fullMap(name, 10);
      const kernel = new MemoryMaps();
      kernel.capacity = { [name]: 10 };
      const table = startAgent(kernel);
      let desired = new DesiredTable();
      desired = await apply(table, desired, service('a', mapping(80, 6)));
      for (let attempt = 0; attempt < 3; attempt++) {
        await assert.rejects(table.put(service('b', mapping(81, 6))), isFull);
        await assert.rejects(table.put(service('a', mapping(80, 12))), isFull);
        await checkSettled(kernel, table, desired);
      }
      desired = await apply(table, desired, service('a', mapping(80, 7)));
      desired = await apply(table, desired, service('b', mapping(81, 3)));
      await checkSettled(kernel, table, desired);
    });

  test('of addresses or groups likewise', async () => {
    for (const name of ['frontends', 'groups'] as const) {
      const isFull = fullMap(name, 2);
      const kernel = new MemoryMaps();
      kernel.capacity = { [name]: 2 };
      const table = startAgent(kernel);
      let desired = new DesiredTable();
      desired = await apply(table, desired, service('a', mapping(80, 1), mapping(81, 2)));
      await assert.rejects(table.put(service('b', mapping(82, 1))), isFull);
      await checkSettled(kernel, table, desired);
      desired = await apply(table, desired, service('a', mapping(80, 3)));
      desired = await apply(table, desired, service('b', mapping(82, 1)));
      await checkSettled(kernel, table, desired);
    }
  });

  test('has connected sockets looked at after a change of which it has a part', async () => {
    const kernel = new MemoryMaps();
    kernel.capacity = { slots: 10 };
    let requests = 0;
    const table = startAgent(kernel, () => requests++);
    await table.put(service('a', mapping(80, 4), mapping(81, 4)));
    requests = 0;
    await assert.rejects(
      table.put(service('a', mapping(80, 3), mapping(81, 12))),
      fullMap('slots', 10),
    );
    assert.notEqual(requests, 0);
  });
});

describe('connected sockets', () => {
  const count = (kernel: MemoryMaps) => {
    const counted = { requests: 0 };
    return { counted, table: startAgent(kernel, () => counted.requests++) };
  };

  test('are not looked at by a reading, but once by the first change of an agent, and by each resync', async () => {
    const kernel = new MemoryMaps();
    await startAgent(kernel).put(service('a', mapping(80, 2)));
    const { counted, table } = count(kernel);
    await table.services();
    await table.services();
    assert.equal(counted.requests, 0);
    await table.put(service('a', mapping(80, 3)));
    await table.put(service('a', mapping(80, 4)));
    assert.equal(counted.requests, 1);
    await table.resynced();
    assert.equal(counted.requests, 2);
  });

  test('are known to be stale while the table is read, and after a change that failed', async () => {
    const kernel = new MemoryMaps();
    const { table } = count(kernel);
    const address = encodeEndpoint({ address: '10.96.0.1', port: 80 });
    const unknown = encodeEndpoint({ address: '10.1.9.9', port: 80 });
    await table.put(service('a', mapping(80, 2)));
    const reading = table.services();
    for (let turns = 0; turns < 3; turns++) {
      assert.equal(table.hasDatagramBackend(address, unknown), false);
      await Promise.resolve();
    }
    await reading;
    kernel.capacity = { slots: 4 };
    await assert.rejects(table.put(service('a', mapping(80, 9))), fullMap('slots', 4));
    assert.equal(table.hasDatagramBackend(address, unknown), false);
  });
});

describe('an exemption', () => {
  const web = { name: 'a', path: '/run/netns/1' };

  test('is that of the namespace to which its path leads when it is put', async () => {
    const kernel = new MemoryMaps();
    const table = startAgent(kernel);
    await table.exempt(web);
    await table.exempt({ ...web, path: '/run/netns/2' });
    assert.deepEqual(await table.exemptNamespaces(), [{ ...web, path: '/run/netns/2' }]);
    assert.equal(kernel.size('exemptions'), 1);
    await startAgent(kernel).endExemption('a');
    assert.equal(kernel.size('exemptions'), 0);
  });

  test('of a namespace that has ended fails, and the table stays known', async () => {
    let requests = 0;
    const table = startAgent(new MemoryMaps(), () => requests++);
    await table.put(service('a', mapping(80, 2)));
    requests = 0;
    await assert.rejects(table.exempt({ name: 'a', path: '/run/netns/gone' }), {
      name: 'NamespaceNotFoundError',
    });
    await table.put(service('b', mapping(81, 2)));
    assert.equal(requests, 0, 'sockets are looked at after a reading');
    assert.deepEqual(await table.exemptNamespaces(), []);
  });
});
