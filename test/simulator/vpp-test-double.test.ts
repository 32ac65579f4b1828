/** Faults, records and snapshots of the simulated VPP, for tests. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { toMac } from '#vpp/binapi/addresses.ts';
import { VppDisconnectedError } from '#vpp/binapi/api.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { allInterfaces, type Machine, machine, noMac, refusedWith, routeTo } from './machine.ts';

describe('the simulated VPP as a test double', () => {
  const loopback = ({ client }: Machine) =>
    client.request('create_loopback', { mac_address: noMac });

  test('records received messages in order', async () => {
    const m = await machine();
    await loopback(m);
    await m.client.dump('sw_interface_dump', allInterfaces);
    await m.client.request('delete_loopback', { sw_if_index: 1 });
    assert.deepEqual(
      m.vpp.requests.map(({ name, kind }) => `${kind} ${name}`),
      ['request create_loopback', 'dump sw_interface_dump', 'request delete_loopback'],
    );
    assert.deepEqual(m.vpp.requests[2]?.fields, { sw_if_index: 1 });
  });

  test('rejects the n-th request once', async () => {
    const m = await machine();
    m.vpp.faults.add(2, { refuse: -7 }, ({ kind }) => kind === 'request');
    await loopback(m);
    await m.client.dump('sw_interface_dump', allInterfaces);
    await assert.rejects(loopback(m), refusedWith(-7));
    await loopback(m);
    assert.equal((await m.client.dump('sw_interface_dump', allInterfaces)).length, 3);
  });

  test('never answers: the client times out, and a dump shows whether the request was executed', async () => {
    for (const [when, left] of [
      ['before', 1],
      ['after', 2],
    ] as const) {
      const m = await machine();
      m.vpp.faults.add(1, { hang: when });
      const call = assert.rejects(loopback(m));
      await m.clock.advance(60_000);
      await call;
      await m.client.whenConnected();
      assert.equal((await m.client.dump('sw_interface_dump', allInterfaces)).length, left);
    }
  });

  test('closes the connection before or after a request and keeps its state', async () => {
    for (const [when, left] of [
      ['before', 1],
      ['after', 2],
    ] as const) {
      const m = await machine();
      m.vpp.faults.add(1, { disconnect: when });
      await assert.rejects(loopback(m), VppDisconnectedError);
      await m.clock.advance(60_000);
      await m.client.whenConnected();
      assert.equal((await m.client.dump('sw_interface_dump', allInterfaces)).length, left);
    }
  });

  test('crashes at a request, by injected fault or by hook', async () => {
    for (const plan of [
      (vpp: SimVpp) => vpp.faults.add(1, { crash: 'after' }),
      (vpp: SimVpp) => {
        vpp.onRequest = (when) => {
          if (when === 'before') vpp.crash();
        };
      },
    ]) {
      const m = await machine();
      plan(m.vpp);
      await assert.rejects(loopback(m), VppDisconnectedError);
      m.vpp.onRequest = undefined;
      assert.equal(m.vpp.isRunning, false);
      await m.vpp.start();
      await m.clock.advance(60_000);
      await m.client.whenConnected();
      assert.equal((await m.client.dump('sw_interface_dump', allInterfaces)).length, 1);
    }
  });

  test('a snapshot names interfaces by tag and is independent of the order of requests', async () => {
    const build = async (m: Machine, detour: boolean) => {
      if (detour) await loopback(m);
      for (const tag of detour ? ['b', 'a'] : ['a', 'b']) {
        const mac_address = toMac(`02:fe:00:00:00:0${tag}`);
        const { sw_if_index } = await m.client.request('create_loopback', { mac_address });
        await m.client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag });
        await m.client.request(
          'ip_route_add_del',
          routeTo(`10.${tag === 'a' ? 2 : 3}.0.0/16`, sw_if_index, '10.1.1.2'),
        );
      }
      if (detour) await m.client.request('delete_loopback', { sw_if_index: 1 });
      return m.vpp.snapshot();
    };
    const straight = await build(await machine(), false);
    assert.deepEqual(await build(await machine(), true), straight);
    assert.deepEqual(straight?.['routes'], [
      'vrf 0 10.2.0.0/16 via 10.1.1.2 dev a',
      'vrf 0 10.3.0.0/16 via 10.1.1.2 dev b',
    ]);
  });

  test('serves a unix socket, again after each start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sim-vpp-'));
    const path = join(folder, 'api.sock');
    const vpp = new SimVpp({ clock: systemClock, random: seededRandom(1), log: silentLogger });
    const connect = unixConnect(path, systemClock);
    const client = new BinapiClient({
      connect,
      clock: systemClock,
      random: seededRandom(2),
      log: silentLogger,
    });
    try {
      await vpp.listen(path);
      client.start();
      await client.whenConnected();
      await client.request('create_loopback', { mac_address: noMac });
      vpp.crash();
      await assert.rejects(connect(), VppDisconnectedError);
      await vpp.start();
      (await connect()).close();
    } finally {
      await client.close();
      vpp.close();
      rmSync(folder, { recursive: true });
    }
  });
});
