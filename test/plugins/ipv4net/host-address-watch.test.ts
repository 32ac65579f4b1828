import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { SocketService } from '#models/linux/socket-service.ts';
import { EventQueueFullError } from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { hostAddressWatch } from '#plugins/ipv4net/host-address-watch.ts';
import { FakeHost } from '../fake-ports.ts';
import { endpointsValue, localPod, serviceValue } from '../service/service-values.ts';
import { nodeValue, TestNode } from '../test-node.ts';

const INTERVAL_MS = 10_000;
const ADDRESS = '172.16.0.5';
const OTHER = '172.16.0.99';

/** A node whose host has services at sockets, and a watch of its addresses. */
async function watched() {
  const host = new FakeHost();
  host.socketServices = true;
  const node = new TestNode({ host, service: { socketServices: '/sys/fs' } });
  const pushed: Event[] = [];
  const clock = new ManualClock();
  let refusal: Error | undefined;
  const watch = hostAddressWatch({
    host,
    net: node.net,
    loop: {
      push: (event) => {
        if (refusal) throw refusal;
        pushed.push(event as Event);
      },
    },
    clock,
    random: seededRandom(1),
    log: silentLogger,
  });
  await watch.afterInit?.();
  const has = (...addresses: string[]): void => {
    host.hostLinks = [
      { name: 'eth0', mtu: 1500, addresses: addresses.map((one) => `${one}/24`) },
      { name: 'vpp1', mtu: 1500, addresses: ['172.30.1.2/24'] },
    ];
  };
  /** The payloads of the events that one interval causes. */
  const interval = async (): Promise<unknown[]> => {
    await clock.advance(INTERVAL_MS);
    return pushed.map(({ payload }) => payload);
  };
  const run = async (): Promise<void> => {
    for (const event of pushed.splice(0)) assert.equal((await node.run(event)).error, undefined);
  };
  const refuse = (error: Error | undefined): void => {
    refusal = error;
  };
  has(ADDRESS);
  const start = () => node.resync([nodeValue('node-a', ADDRESS)]);
  return { node, host, has, start, interval, run, refuse, watch };
}

const sourceOf = (node: TestNode): string | undefined =>
  node
    .at<SocketService>('config/linux/socket/v2/service/default/web')
    .mappings.find(({ host_source }) => host_source !== '')?.host_source;

describe('the addresses of the host', () => {
  it('cause an event when they change, and not before the first resync', async () => {
    const { has, start, interval, run } = await watched();
    assert.deepEqual(await interval(), []);
    await start();
    assert.deepEqual(await interval(), []);
    has(ADDRESS, OTHER);
    assert.deepEqual(await interval(), [{ addresses: [ADDRESS, OTHER] }]);
    assert.equal((await interval()).length, 1, 'the event still waits');
    await run();
    assert.deepEqual(await interval(), []);
    has();
    assert.deepEqual(await interval(), [{ addresses: [] }]);
    await run();
    assert.deepEqual(await interval(), []);
  });

  it('are no more the source of the host when they are lost, and again when they come back', async () => {
    const { node, has, start, interval, run } = await watched();
    await start();
    const port = [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }];
    const local = { service_type: 'NodePort', external_traffic_policy: 'Local', port };
    await node.put(serviceValue('web', '10.96.0.10', local));
    await node.put(endpointsValue('web', [localPod(2)]));
    assert.equal(sourceOf(node), ADDRESS);
    for (const [addresses, source] of [
      [[OTHER], undefined],
      [[ADDRESS, OTHER], ADDRESS],
    ] as const) {
      has(...addresses);
      await interval();
      await run();
      assert.equal(sourceOf(node), source);
    }
  });

  it('cause another event after a minute, if the host did not answer when the first one was processed', async () => {
    const { host, has, start, interval, run } = await watched();
    await start();
    has(ADDRESS, OTHER);
    await interval();
    const { links } = host;
    host.links = () => Promise.reject(new Error('no answer'));
    await run();
    host.links = links;
    for (let round = 0; round < 5; round++) assert.deepEqual(await interval(), []);
    assert.deepEqual(await interval(), [{ addresses: [ADDRESS, OTHER] }]);
    await run();
    for (let round = 0; round < 12; round++) assert.deepEqual(await interval(), []);
  });

  it('are read again after the host or the loop has refused, until the watch ends', async () => {
    const { host, has, start, interval, run, refuse, watch } = await watched();
    await start();
    has(OTHER);
    refuse(new EventQueueFullError('full'));
    assert.deepEqual(await interval(), []);
    refuse(undefined);
    const { links } = host;
    host.links = () => Promise.reject(new Error('no answer'));
    assert.deepEqual(await interval(), []);
    host.links = links;
    // failures are followed by longer pauses
    await interval();
    assert.equal((await interval()).length, 1);
    await run();
    await watch.close?.();
    has(ADDRESS);
    assert.deepEqual(await interval(), []);
  });
});
