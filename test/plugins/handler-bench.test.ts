/** The checks of the handler bench: they accept the handlers of the agent and find broken ones. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { vppArpModel } from '#models/vpp/arp.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type { EventHandler, UpdateContext } from '#plugins/controller/api/event-handler.ts';
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import { keyValue } from '#plugins/controller/api/key-value.ts';
import type { Transaction } from '#plugins/controller/api/transaction.ts';
import { AddPod, DeletePod } from '#plugins/podmanager/api.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { createSecondInterface } from '../../examples/plugin/second-interface.ts';
import { Ask, Note } from './controller/test-events.ts';
import { FakeHost } from './fake-ports.ts';
import { checkHandler, HandlerBench } from './handler-bench.ts';
import { nodeValue, TestNode, vppNodeValue } from './test-node.ts';

const startup: Event = DbResync.event({ local: false, kubeState: {}, externalConfig: {} });

const attachment = {
  pod: { namespace: 'default', name: 'web' },
  containerId: 'c1',
  interfaceName: 'eth0',
};
const addPod = AddPod.event({
  ...attachment,
  networkNamespace: '/run/netns/c1',
  ipamType: '',
  ipamData: '',
}) as Event;
const deletePod: Event = DeletePod.event(attachment);

const changes = [
  nodeValue('node-b', '172.16.0.6'),
  vppNodeValue(2, 'node-b', '192.168.16.2/24'),
].map(
  ({ resource, key, value }): Event =>
    KubeStateChange.event({ resource, key, previous: undefined, current: value }),
);

/** Creates nodes on the same machine: host and stores persist across restarts of the agent. */
function createNodes() {
  const host = new FakeHost();
  host.namespaces.set('/run/netns/c1', 1);
  const options = { cluster: new MemoryStore(), local: new MemoryStore(), host };
  return () => new TestNode(options);
}

const loopback = (name: string) => vppInterfaceModel.canonical({ name, type: 'SOFTWARE_LOOPBACK' });
const neighbor = vppArpModel.canonical({
  interface: 'missing',
  ip_address: '10.0.0.1',
  phys_address: '02:00:00:00:00:01',
});

/** A correct handler that puts one loopback for each handled event, with overridden methods. */
function createHandler(changed: Partial<EventHandler>): EventHandler & { names: Set<string> } {
  const names = new Set<string>();
  const put = (txn: Transaction, name: string) =>
    txn.replace(name, [keyValue(vppInterfaceModel, loopback(name))]);
  return {
    name: 'loopbacks',
    names,
    handlesEvent: () => true,
    resync: ({ txn }) => {
      for (const name of names) put(txn, name);
    },
    update: ({ txn, event, onRevert }) => {
      const name = `loop-${event.kind.id}`;
      names.add(name);
      onRevert(() => void names.delete(name));
      put(txn, name);
    },
    describeInternalData: () => [...names].join(),
    ...changed,
  };
}

/** The names of the loopbacks persist, as if they were in a store. */
function check(changed: Partial<EventHandler>, ...updates: Event[]): Promise<void> {
  const handler = createHandler(changed);
  return checkHandler({ create: () => new HandlerBench([handler]), startup, updates });
}

describe('the event handlers of plugins/', () => {
  it('are all in createPlugins, under the name of their folder', () => {
    const names = new TestNode().handlers.map(({ name }) => name);
    const folders = globSync('plugins/*/plugin.ts').map((file) => file.split('/')[1]!);
    const missing = 'add the handler to src/cmd/agent/plugins.ts, behind all that it reads from';
    assert.deepEqual(names.sort(), folders.sort(), missing);
  });
});

describe('checkHandler', () => {
  it('accepts the core handlers', async () => {
    const create = createNodes();
    await checkHandler({ create, startup, updates: [...changes, addPod, deletePod] });
    await checkHandler({ create: createNodes(), startup, updates: [addPod, ...changes] });
  });

  it('accepts the example of a second interface', async () => {
    const createNode = createNodes();
    const create = () => {
      const { handlers, desired, pods, ipam, net } = createNode();
      const second = createSecondInterface({ network: '10.200', mtu: 1400 }, { pods, ipam, net });
      return new HandlerBench([...handlers, second], desired);
    };
    await checkHandler({ create, startup, updates: [addPod, ...changes, deletePod] });
  });

  it('accepts a correct handler', async () => {
    await check({}, Note.event({ n: 1 }), Ask.event({ n: 2 }) as Event);
  });

  it('rejects a handler that does not handle a resync', async () => {
    const handlesEvent = (event: Event) =>
      event.kind.method(event.payload) !== EventMethod.UpstreamResync;
    await assert.rejects(check({ handlesEvent }), /loopbacks does not handle Verification Resync/);
  });

  it('rejects a handler whose update and resync differ', async () => {
    await assert.rejects(
      check({ resync: () => undefined }, Note.event({ n: 1 })),
      /a resync after Note does not reach the same state/,
    );
  });

  it('rejects a handler that does not revert its state', async () => {
    const handler = createHandler({});
    const update = (ctx: UpdateContext) =>
      handler.update({ ...ctx, onRevert: () => undefined }, undefined);
    await assert.rejects(
      checkHandler({
        create: () => new HandlerBench([{ ...handler, update }]),
        startup,
        updates: [Ask.event({ n: 1 }) as Event],
      }),
      /do not revert their state after a rejected Ask/,
    );
  });

  it('rejects a pending value in a RevertOnFailure event, not in a best-effort one', async () => {
    const put = ({ txn }: { txn: Transaction }) =>
      txn.replace('neighbor', [keyValue(vppArpModel, neighbor)], { evenUnchanged: true });
    const handler = {
      resync: put,
      update: put,
      describeInternalData: () => '',
    };
    await check(handler, Note.event({ n: 1 }));
    await assert.rejects(
      check(handler, Ask.event({ n: 1 }) as Event),
      /Ask puts config\/vpp\/v2\/arp\/missing\/10\.0\.0\.1, which stays pending \(unmet dependency .*interface/,
    );
  });

  it('rejects a handler whose state is lost in a restart', async () => {
    const create = () => new HandlerBench([createHandler({})]);
    await assert.rejects(
      checkHandler({ create, startup, updates: [Note.event({ n: 1 })] }),
      /a restarted agent does not reach the same values/,
    );
  });
});
