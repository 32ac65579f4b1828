/** Links of the host where the kernel leads packets of services to VPP: as values of the scheduler. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { serviceLinkModel } from '#models/linux/service-link.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';

const inputs = [
  { host_if_name: 'vpp1' },
  { host_if_name: 'eth0', vpp_link: 'vpp1', gw_addr: '172.30.1.1' },
];

describe('links of services', () => {
  let host: SimLinux;
  let table: SimSocketTable;

  beforeEach(() => {
    host = new SimLinux(seededRandom(1));
    table = new SimSocketTable(seededRandom(1), new ManualClock());
  });

  /** As an agent that starts. */
  async function resync() {
    const options = { host, label: 'node1', log: silentLogger, socketTable: table };
    const scheduler = createScheduler({
      descriptors: linuxDescriptors(options),
      clock: systemClock,
      log: silentLogger,
    });
    const values = inputs.map((input) => {
      const value = serviceLinkModel.canonical(input);
      return [serviceLinkModel.key(value), value] as const;
    });
    const { failures } = await scheduler.commit({
      description: 'test',
      mode: 'full-resync',
      values: new Map(values),
      onFailure: 'best-effort',
    });
    assert.deepEqual(failures, []);
    return scheduler;
  }

  async function indexOf(name: string): Promise<number> {
    const [found] = await host.findLinks(undefined, [name]);
    return found!.index;
  }

  async function expected() {
    const [eth0, vpp1] = [await indexOf('eth0'), await indexOf('vpp1')];
    return [
      { index: vpp1, toVpp: undefined },
      { index: eth0, toVpp: { index: vpp1, gateway: '172.30.1.1' } },
    ];
  }

  const byIndex = (a: { readonly index: number }, b: { readonly index: number }) =>
    a.index - b.index;

  test('wait for both links', async () => {
    host.addNic('eth0');
    await resync();
    assert.deepEqual(await table.links(), []);
    host.addNic('vpp1');
    await resync();
    assert.deepEqual((await table.links()).toSorted(byIndex), (await expected()).sort(byIndex));
  });

  test('what is lost is a difference, and a resync restores it', async () => {
    for (const name of ['eth0', 'vpp1']) host.addNic(name);
    const scheduler = await resync();
    assert.deepEqual((await scheduler.drift()).Differences, []);
    await table.deleteLink(await indexOf('eth0'));
    const { Differences } = await scheduler.drift();
    assert.deepEqual(
      Differences.map(({ Key, Difference }) => `${Key} ${Difference}`),
      ['config/linux/socket/v2/link/eth0 missing'],
    );
    await resync();
    assert.deepEqual((await table.links()).toSorted(byIndex), (await expected()).sort(byIndex));
  });

  test('follow a link to VPP that was replaced, and a link that is none any more goes', async () => {
    for (const name of ['eth0', 'eth1']) host.addNic(name);
    const tap = host.openTap('vpp1');
    await resync();
    await table.putLink({ index: await indexOf('eth1'), toVpp: undefined });
    const before = await indexOf('vpp1');
    tap.close();
    await table.deleteLink(before);
    host.openTap('vpp1');
    assert.notEqual(await indexOf('vpp1'), before);
    await resync();
    assert.deepEqual((await table.links()).toSorted(byIndex), (await expected()).sort(byIndex));
  });

  test('a link that was moved to another namespace meanwhile is led no more', async () => {
    for (const name of ['eth0', 'vpp1']) host.addNic(name);
    await table.putLink({ index: 4711, toVpp: undefined });
    const scheduler = await resync();
    assert.deepEqual((await table.links()).toSorted(byIndex), (await expected()).sort(byIndex));
    assert.deepEqual((await scheduler.drift()).Differences, []);
  });

  test('an address of VPP is needed with a link to it, and only there', async () => {
    const [descriptor] = linuxDescriptors({
      host,
      label: 'node1',
      log: silentLogger,
      socketTable: table,
    }).filter(({ name }) => name === 'linux-service-link');
    for (const [field, input] of [
      ['gw_addr', { host_if_name: 'eth0', vpp_link: 'vpp1' }],
      ['gw_addr', { host_if_name: 'eth0', gw_addr: '172.30.1.1' }],
      ['gw_addr', { host_if_name: 'eth0', vpp_link: 'vpp1', gw_addr: 'fd30::1' }],
      ['host_if_name', {}],
    ] as const) {
      const value = serviceLinkModel.canonical(input);
      const key = serviceLinkModel.key(value);
      const invalid = { name: 'InvalidValueError', fields: [field] };
      assert.throws(() => descriptor!.validate!(key, value), invalid, JSON.stringify(input));
    }
  });
});
