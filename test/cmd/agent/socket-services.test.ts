/** An agent whose kernel translates services at sockets: what operators see of it, its restart, and undeploy. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PairTrace } from '#documents/pair-trace.ts';
import type { ServiceDocument } from '#documents/services.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import { HealingResync } from '#plugins/controller/api/events.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';
import { endpointsValue, serviceValue } from '../../plugins/service/service-values.ts';
import {
  makeNode,
  type Node,
  prepareAgent,
  type RunningAgent,
  startAgent,
  until,
} from './harness.ts';
import { writeChange } from './kube-change.ts';
import { create, readiness, web } from './test-pods.ts';

const KEY = 'config/linux/socket/v2/service/default/web';
const service = { socketServices: '/sys/fs' };

async function metrics({ agent }: RunningAgent): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${agent.port}/metrics`)).text();
}

interface SocketNode {
  readonly node: Node;
  readonly table: SimSocketTable;
  /** Changes that the table was asked for. */
  readonly changes: string[];
  /** Number of changes before the first resync was reported to the table. */
  resyncedAt: number | undefined;
  start(): Promise<RunningAgent>;
  undeploy(): Promise<void>;
}

function socketNode(): SocketNode {
  const node = makeNode();
  const table = new SimSocketTable(systemRandom, systemClock);
  const changes: string[] = [];
  const watched: SocketTable = {
    put: async (one) => {
      changes.push(`put ${one.name}`);
      await table.put(one);
    },
    delete: async (name) => {
      changes.push(`delete ${name}`);
      await table.delete(name);
    },
    services: () => table.services(),
    putNodeAddress: async (one) => {
      changes.push(`put ${one.address}`);
      await table.putNodeAddress(one);
    },
    deleteNodeAddress: async (address) => {
      changes.push(`delete ${address}`);
      await table.deleteNodeAddress(address);
    },
    nodeAddresses: () => table.nodeAddresses(),
    putLink: async (one) => {
      changes.push(`put link ${one.index}`);
      await table.putLink(one);
    },
    deleteLink: async (index) => {
      changes.push(`delete link ${index}`);
      await table.deleteLink(index);
    },
    links: () => table.links(),
    exempt: async (one) => {
      changes.push(`exempt ${one.name}`);
      await table.exempt(one);
    },
    endExemption: async (name) => {
      changes.push(`end exemption ${name}`);
      await table.endExemption(name);
    },
    exemptNamespaces: () => table.exemptNamespaces(),
    resynced: async () => {
      made.resyncedAt ??= changes.length;
    },
    lostParts: () => table.lostParts(),
    restore: async () => {
      changes.push('restore');
      await table.restore();
    },
    statistics: () => table.statistics(),
    remove: async () => {
      changes.push('remove');
      await table.remove();
    },
  };
  const options = () => ({
    service,
    environment: { ...node, connectVpp: node.vpp.connect(), socketTable: watched },
  });
  const made: SocketNode = {
    node,
    table,
    changes,
    resyncedAt: undefined,
    start: () => startAgent(node, options()),
    undeploy: () => prepareAgent(node, options()).agent.undeploy(),
  };
  return made;
}

async function publishWeb({ node, table }: SocketNode, address: string): Promise<void> {
  await writeChange(node, serviceValue('web', '10.96.0.10'));
  await writeChange(node, endpointsValue('web', [{ ip: address, node: 'node1', pod: 'web' }]));
  await until(async () =>
    (await table.services()).some(({ mappings }) => mappings[0]?.backends[0]),
  );
}

describe('services at sockets of an agent', () => {
  it('are in the documents, and in the trace of a pair', async () => {
    const made = socketNode();
    await using running = await made.start();
    const address = await create(running, web);
    await publishWeb(made, address);
    const { body } = await running.get('/contiv/v1/services/default/web');
    const { renderer, values } = body as ServiceDocument;
    assert.equal(renderer, 'nat44, socket');
    const found = values.find(({ key }) => key === KEY)!;
    assert.equal(found.state, 'CONFIGURED');
    assert.deepEqual(found.actual, found.desired);
    const { body: traced } = await running.get(
      '/trace/pair?from=default/web&to=10.96.0.10&to-port=80',
    );
    const text = JSON.stringify(traced as PairTrace);
    assert.match(text, /the socket: 10\.96\.0\.10 port 80 becomes /);
  });

  it('survive a restart without a write, and go with undeploy', async () => {
    const made = socketNode();
    const running = await made.start();
    await publishWeb(made, await create(running, web));
    assert.match(await metrics(running), /^contiv_socket_services_active 1$/m);
    await running.stop();
    const before = made.changes.length;
    const next = await made.start();
    await until(async () => (await readiness(next)) === 'ready');
    assert.deepEqual(made.changes.slice(before), []);
    await next.stop();
    await made.undeploy();
    assert.deepEqual(await made.table.services(), []);
    assert.equal(made.changes.at(-1), 'remove');
  });

  it('receive the first resync when it has filled the table', async () => {
    const made = socketNode();
    const first = await made.start();
    await publishWeb(made, await create(first, web));
    await first.stop();
    await made.table.remove();
    made.changes.length = 0;
    made.resyncedAt = undefined;
    await using running = await made.start();
    await until(async () => made.resyncedAt !== undefined);
    assert.ok(made.changes.slice(0, made.resyncedAt).includes('put default/web'));
    assert.equal(await readiness(running), 'ready');
  });

  it('are in drift, readiness and metric when another process has removed a program, and the next resync makes it again', async () => {
    const made = socketNode();
    await using running = await made.start();
    await publishWeb(made, await create(running, web));
    made.table.stop('connect');
    made.changes.length = 0;
    const drift = JSON.stringify((await running.get('/scheduler/drift')).body);
    assert.match(drift, /leftover\/linux-socket-service\/programs/);
    assert.match(drift, /no program runs at connect/);
    assert.match(await metrics(running), /^contiv_socket_services_active 0$/m);
    const { status, body } = await running.get('/readiness');
    assert.equal(status, 200);
    assert.match(JSON.stringify(body), /CV_SOCKET_PROGRAMS_LOST|no program runs at connect/);
    assert.deepEqual(made.changes, []);
    await running.agent.controller.pushAndWait(
      HealingResync.event({ type: 'after-error', error: 'test' }),
    );
    assert.deepEqual(made.changes, ['restore']);
    assert.deepEqual(made.table.lostParts(), []);
    // documents of metrics are kept for a moment
    await until(async () => /^contiv_socket_services_active 1$/m.test(await metrics(running)));
  });

  it('have no metric where they are not configured', async () => {
    await using running = await startAgent(makeNode());
    assert.doesNotMatch(await metrics(running), /contiv_socket_services/);
  });

  it('say why there are none, and the node is ready', async () => {
    const node = makeNode();
    const environment = { ...node, connectVpp: node.vpp.connect(), socketFault: 'no bpf' };
    await using running = await startAgent(node, { service, environment });
    const { status, body } = await running.get('/readiness');
    assert.equal(status, 200);
    assert.match(JSON.stringify(body), /no bpf/);
    assert.match(await metrics(running), /^contiv_socket_services_active 0$/m);
  });
});
