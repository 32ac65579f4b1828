/** Some links are read alone, as CHECK of CNI does: the kernel lists the agent's namespace only if one is not in place. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { entries } from '#test/descriptors/compliance/shared-vpp-agent.ts';

const PODS = 4;
const path = (at: number): string => `/run/netns/pod${at}`;

function veth(input: DeepInput<LinuxInterface>): KeyedValue {
  const value = linuxInterfaceModel.canonical({ type: 'VETH', enabled: true, ...input });
  return { key: linuxInterfaceModel.key(value), value };
}

/** Both ends of the link of a pod, and its route. */
function pod(at: number): readonly KeyedValue[] {
  const [inner, outer] = [`inner${at}`, `outer${at}`];
  const route = linuxRouteModel.canonical({
    outgoing_interface: inner,
    scope: 'LINK',
    dst_network: '10.1.1.1/32',
  });
  return [
    veth({
      name: inner,
      namespace: { type: 'NSID', reference: `pod${at}` },
      host_if_name: 'eth0',
      ip_addresses: [`10.1.1.${at + 2}/32`],
      veth: { peer_if_name: outer },
    }),
    veth({ name: outer, veth: { peer_if_name: inner } }),
    { key: linuxRouteModel.key(route), value: route },
  ];
}

describe('requested links', () => {
  let host: SimLinux;
  let scheduler: Scheduler;

  beforeEach(async () => {
    host = new SimLinux(seededRandom(1));
    for (let at = 0; at < PODS; at++) host.addNamespace(path(at));
    const descriptors = linuxDescriptors({ host, label: 'node1', log: silentLogger });
    scheduler = createScheduler({ descriptors, clock: systemClock, log: silentLogger });
    const { failures } = await scheduler.commit({
      description: 'test',
      mode: 'full-resync',
      values: new Map(entries(Array.from({ length: PODS }, (_, at) => pod(at)).flat())),
      onFailure: 'best-effort',
    });
    assert.deepEqual(failures, []);
    host.operations.length = 0;
  });

  /** Differences of the values of one pod, and the namespaces that were listed for them. */
  const driftOf = async (at: number) => {
    host.operations.length = 0;
    const keys = pod(at).map(({ key }) => key);
    const { Differences, Unread } = await scheduler.drift(new Set(keys));
    assert.deepEqual(Unread, []);
    return {
      differences: Differences.map(({ Key, Difference }) => `${Key} ${Difference}`),
      listed: host.operations.filter(({ name }) => name === 'dump').map((one) => one.namespace),
    };
  };

  test('of a pod that is right, only its own namespace is listed', async () => {
    assert.deepEqual(await driftOf(1), { differences: [], listed: [path(1)] });
  });

  test('each change of a link is a difference', async () => {
    const outer = `${linuxInterfaceModel.keyPrefix}outer1`;
    await host.setLink(undefined, 'outer1', { mtu: 1400 });
    await host.deleteAddress(path(1), 'eth0', '10.1.1.3/32');
    const { differences, listed } = await driftOf(1);
    assert.deepEqual(listed, [path(1)]);
    assert.ok(differences.includes(`${outer} different`), String(differences));
    assert.ok(
      differences.includes('linux/interface/inner1/address/static/10.1.1.3/32 missing'),
      String(differences),
    );
    await host.deleteLink(undefined, 'outer2');
    assert.deepEqual((await driftOf(2)).differences.slice(0, 2), [
      `${linuxInterfaceModel.keyPrefix}inner2 missing`,
      `${linuxInterfaceModel.keyPrefix}outer2 missing`,
    ]);
    assert.deepEqual((await driftOf(3)).differences, []);
  });

  test('a link without its mark, or under another name, is looked for everywhere', async () => {
    const outer = `${linuxInterfaceModel.keyPrefix}outer1`;
    await host.moveLink(
      { namespace: undefined, name: 'outer1' },
      { namespace: undefined, name: 'moved' },
    );
    const moved = await driftOf(1);
    assert.deepEqual(moved.listed.sort(), [path(1), undefined]);
    assert.ok(moved.differences.includes(`${outer} different`), String(moved.differences));
    await host.setLink(undefined, 'outer2', { alias: '' });
    assert.deepEqual((await driftOf(2)).listed.sort(), [path(2), undefined]);
  });

  test('reading one pair keeps what is known of other pairs', async () => {
    await driftOf(1);
    const [inner, outer, route] = pod(2);
    for (const gone of [route!, outer!, inner!])
      await scheduler.commit({
        description: 'test',
        mode: 'update',
        values: new Map([[gone.key, null]]),
        onFailure: 'best-effort',
      });
    const { links } = await host.dump(undefined);
    assert.deepEqual(links.map(({ name }) => name).sort(), ['lo', 'outer0', 'outer1', 'outer3']);
  });
});
