import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { InterfaceCounters } from '#plugins/controller/api/ports/stats.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { SegmentStatistics } from '#vpp/stats/statistics.ts';
import { VppProcess } from '../support/vpp-process.ts';

const SIZE = 100;
const COUNT = 12_345;
/** Size of a vector of VPP: the byte counter may lag behind the packet counter by this many packets. */
const VECTOR = 256;

describe('statistics of a real VPP', { skip: withoutVpp(), timeout: 120_000 }, () => {
  const vpp = new VppProcess({ statistics: 'per-node-counters on update-interval 1' });
  let client: BinapiClient;
  let statistics: SegmentStatistics;

  const cli = async (cmd: string) => (await client.request('cli_inband', { cmd })).reply;

  async function generator(): Promise<InterfaceCounters> {
    const found = (await statistics.interfaces()).find(
      ({ internalName }) => internalName === 'pg0',
    );
    assert.ok(found, 'pg0');
    return found;
  }

  /** Sends packets of one size to pg0, which drops them. */
  async function send(limit: number, rate?: number): Promise<void> {
    const pace = rate === undefined ? '' : `rate ${rate}`;
    await cli(
      `packet-generator new { name s limit ${limit} ${pace} size ${SIZE}-${SIZE} interface pg0 ` +
        'node ethernet-input data { IP4: 1.2.3 -> 4.5.6 UDP: 10.1.1.2 -> 10.1.1.3 ' +
        `UDP: 1000 -> 2000 incrementing ${SIZE - 42} } }`,
    );
    await cli('packet-generator enable-stream s');
  }

  before(async () => {
    await vpp.start();
    client = new BinapiClient({
      connect: unixConnect(vpp.apiSocket, systemClock),
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
    });
    client.start();
    await client.whenConnected();
    statistics = new SegmentStatistics(
      { pid: async () => (await client.request('control_ping', {})).vpe_pid },
      systemClock,
    );
    await cli('create packet-generator interface pg0');
    await cli('set interface state pg0 up');
  });

  after(async () => {
    statistics?.close();
    await client?.close();
    await vpp.remove();
  });

  test('agree with show interface after traffic of known size', async () => {
    await send(COUNT);
    let counters = await generator();
    while (counters.rxPackets < BigInt(COUNT)) {
      await systemClock.sleep(20);
      counters = await generator();
    }
    assert.equal(counters.rxPackets, BigInt(COUNT));
    assert.equal(counters.rxBytes, BigInt(COUNT * SIZE));
    const shown = await cli('show interface pg0');
    const column = (name: string) => BigInt(new RegExp(`${name}\\s+(\\d+)`).exec(shown)?.[1] ?? 0);
    assert.equal(column('rx packets'), counters.rxPackets);
    assert.equal(column('rx bytes'), counters.rxBytes);
    assert.equal(column('drops'), counters.drops);
    const errors = await statistics.nodeErrors();
    assert.ok(
      errors.some(({ count }) => count === BigInt(COUNT)),
      'the reason of the drops',
    );
    const { heaps } = await statistics.system();
    const main = heaps.find(({ name }) => name === 'main heap');
    assert.ok(main && main.used > 0 && main.used < main.total);
  });

  test('have no deleted interface, and the figures of memory, buffers and NAT44', async () => {
    const { sw_if_index } = await client.request('create_loopback', {
      mac_address: new Uint8Array(6),
    });
    const names = async () =>
      (await statistics.interfaces()).map(({ internalName }) => internalName);
    assert.ok((await names()).includes('loop0'));
    await client.request('delete_loopback', { sw_if_index });
    assert.deepEqual(
      (await names()).filter((name) => /loop|deleted/.test(name)),
      [],
    );
    const { heaps, bufferPools, loopRates } = await statistics.system();
    assert.deepEqual(heaps.map(({ name }) => name).sort(), ['main heap', 'stat segment']);
    for (const { total, used, free } of heaps) assert.equal(used + free, total);
    assert.equal(loopRates.length, 1);
    const total = /default-numa-0 +\d+ +\d+ +\d+ +\d+ +(\d+)/.exec(await cli('show buffers'))?.[1];
    for (const { used, cached, available } of bufferPools)
      assert.equal(used + cached + available, Number(total));
    assert.equal(bufferPools.length, 1);
    assert.equal((await statistics.natPackets()).length, 20);
  });

  test('have the calls of each graph node, when VPP counts them', async () => {
    const collector = async () =>
      (await statistics.nodes()).find(({ name }) => name === 'statseg-collector-process');
    await until('VPP updates its statistics', async () => (await collector()) !== undefined);
    const found = await collector();
    assert.ok(found && found.suspends > 0n && found.clocks > found.suspends);
  });

  test('are consistent while VPP counts and while the layout changes', async () => {
    await cli('packet-generator delete s');
    const start = await generator();
    await send(200_000, 100_000);
    let last = start;
    let looks = 0;
    while (last.rxPackets - start.rxPackets < 200_000n) {
      // New interfaces reallocate the vectors and change the epoch during reads.
      if (looks++ % 20 === 0)
        await client.request('create_loopback', { mac_address: new Uint8Array(6) });
      const now = await generator();
      assert.ok(now.rxPackets >= last.rxPackets && now.rxBytes >= last.rxBytes, 'only grows');
      assert.equal(now.rxBytes % BigInt(SIZE), 0n, 'whole packets');
      const lag = now.rxPackets * BigInt(SIZE) - now.rxBytes;
      assert.ok(lag >= -BigInt(VECTOR * SIZE) && lag <= BigInt(VECTOR * SIZE), `lag ${lag}`);
      last = now;
    }
    assert.ok(looks > 20, `${looks} looks`);
  });

  test('are read again after a restart of VPP', async () => {
    await vpp.kill();
    await assert.rejects(statistics.interfaces());
    await vpp.start();
    await client.whenConnected();
    const names = (await statistics.interfaces()).map(({ internalName }) => internalName);
    assert.deepEqual(names, ['local0']);
  });
});
