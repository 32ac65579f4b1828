/** Sessions of WireGuard as VPP reports them, and peers that are created again when their sessions are lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { wireguardPeerModel } from '#models/vpp/wireguard-peer.ts';
import type { WireguardPeerMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { WireguardSession } from '#plugins/controller/api/ports/wireguard.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { wireguard } from '#test/descriptors/compliance/wireguard-examples.ts';
import { exampleKeys, testKeyPair, testWireguardKeys } from '#test/support/wireguard-keys.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { WireguardSessions } from '#vpp/wireguard-sessions.ts';

const keyOf = (node: number) => testKeyPair(`node ${node}`).publicKey;

function peer(node: number, endpoint = `192.168.16.${node}`): KeyedValue {
  const value = wireguardPeerModel.canonical({
    wg_if_name: 'wireguard0',
    public_key: keyOf(node),
    endpoint,
    port: 51_820,
    persistent_keepalive: 25,
    allowed_ips: [`10.1.${node}.0/24`],
  });
  return { key: wireguardPeerModel.key(value), value };
}

async function machine(t: { after(done: () => Promise<void>): void }) {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const vpp = new SimVpp({ clock, random, log: silentLogger });
  const start = async () => {
    const client = new BinapiClient({ connect: vpp.connect(), clock, random, log: silentLogger });
    const needs = { client, clock, log: silentLogger };
    const sessions = new WireguardSessions(needs);
    const scheduler = createScheduler({
      descriptors: vppDescriptors({
        ...needs,
        wireguardKeys: testWireguardKeys,
        peerSessions: sessions,
      }),
      clock,
      log: silentLogger,
    });
    client.start();
    await client.whenConnected();
    sessions.start(scheduler.metadataMap<WireguardPeerMetadata>('vpp-wireguard-peer')!);
    const changes: (readonly WireguardSession[])[] = [];
    let losses = 0;
    sessions.onChange((changed) => changes.push(changed));
    sessions.onLost(() => losses++);
    const commit = async (mode: 'full-resync' | 'update', values: readonly KeyedValue[]) => {
      const { seqNum, failures } = await scheduler.commit({
        description: mode,
        mode,
        values: new Map(values.map(({ key, value }) => [key, value])),
        onFailure: 'best-effort',
      });
      assert.deepEqual(failures, []);
      const executed = scheduler.record(seqNum)?.Executed ?? [];
      return executed
        .filter(({ NOOP }) => !NOOP)
        .map(({ Operation, Key }) => `${Operation} ${Key}`);
    };
    const stop = async () => {
      sessions.close();
      await scheduler.close();
      await client.close();
    };
    return { sessions, commit, stop, changes, losses: () => losses };
  };
  t.after(async () => vpp.close());
  const established = (sessions: WireguardSessions) =>
    sessions
      .sessions()
      .filter(({ isEstablished }) => isEstablished)
      .map(({ publicKey }) => publicKey)
      .sort();
  return { clock, vpp, start, established };
}

const values = [wireguard('wireguard0'), peer(2), peer(3)];

test('a session is reported when it is established and when it ends', async (t) => {
  const { clock, vpp, start, established } = await machine(t);
  vpp.wireguardLinks.setSilent(keyOf(3), true);
  const agent = await start();
  t.after(agent.stop);
  await agent.commit('full-resync', values);
  await clock.advance(100);
  assert.deepEqual(established(agent.sessions), [keyOf(2)]);
  const begin = new Date(clock.wallTime());

  vpp.wireguardLinks.setSilent(keyOf(3), false);
  await clock.advance(100);
  assert.deepEqual(established(agent.sessions), [keyOf(2), keyOf(3)].sort());
  vpp.wireguardLinks.setSilent(keyOf(2), true);
  await clock.advance(100);
  assert.deepEqual(established(agent.sessions), [keyOf(3)]);
  assert.deepEqual(
    agent.changes.flat().map(({ publicKey, isEstablished }) => [publicKey, isEstablished]),
    [
      [keyOf(2), true],
      [keyOf(3), true],
      [keyOf(2), false],
    ],
  );
  const third = agent.sessions.sessions().find(({ publicKey }) => publicKey === keyOf(3));
  assert.ok(third !== undefined && third.since >= begin && third.iface === 'wireguard0');
});

test('after an event only its peer is read, among any number of others', async (t) => {
  const { clock, vpp, start } = await machine(t);
  const agent = await start();
  t.after(agent.stop);
  const many = Array.from({ length: 100 }, (_, at) => peer(at + 2));
  await agent.commit('full-resync', [wireguard('wireguard0'), ...many]);
  await clock.advance(100);
  const before = vpp.requests.length;
  vpp.wireguardLinks.setSilent(keyOf(50), true);
  await clock.advance(100);
  assert.equal(agent.changes.at(-1)?.length, 1);
  const read = vpp.requests.slice(before).map(({ name }) => name);
  assert.deepEqual(read, ['want_wireguard_peer_events', 'wireguard_peers_dump']);
});

test('a restarted agent sees the sessions before it changes anything', async (t) => {
  const { clock, start, established } = await machine(t);
  const first = await start();
  await first.commit('full-resync', values);
  await clock.advance(100);
  await first.stop();
  const second = await start();
  t.after(second.stop);
  const read = await second.sessions.read();
  assert.deepEqual(
    read.map(({ iface, publicKey, isEstablished }) => [iface, publicKey, isEstablished]),
    [
      ['wireguard0', keyOf(2), true],
      ['wireguard0', keyOf(3), true],
    ],
  );
  assert.deepEqual(await second.commit('full-resync', values), []);
  await clock.advance(100);
  assert.equal(established(second.sessions).length, 2);
  assert.deepEqual(await second.commit('full-resync', values), []);
});

test('a peer whose session is lost is created again, once', async (t) => {
  const { clock, vpp, start } = await machine(t);
  const agent = await start();
  t.after(agent.stop);
  await agent.commit('full-resync', values);
  await clock.advance(100);
  vpp.wireguardLinks.setSilent(keyOf(2), true);
  await clock.advance(50_000);
  assert.deepEqual(await agent.commit('full-resync', values), []);
  assert.equal(agent.losses(), 0);

  await clock.advance(30_000);
  assert.equal(agent.losses(), 1);
  const { key } = peer(2);
  assert.deepEqual(await agent.commit('full-resync', values), [`DELETE ${key}`, `CREATE ${key}`]);
  // VPP does not give up now
  await clock.advance(300_000);
  assert.equal(agent.losses(), 1);
  const { since } = agent.sessions.sessions().find(({ publicKey }) => publicKey === keyOf(2))!;
  assert.ok(clock.wallTime() - since.getTime() > 379_000);
  assert.deepEqual(await agent.commit('full-resync', values), []);

  vpp.wireguardLinks.setSilent(keyOf(2), false);
  await clock.advance(100);
  assert.equal(agent.changes.at(-1)?.[0]?.isEstablished, true);
  vpp.wireguardLinks.setSilent(keyOf(2), true);
  await clock.advance(80_000);
  assert.equal(agent.losses(), 2);
});

test('sessions that end with their interface are reported together', async (t) => {
  const { clock, vpp, start, established } = await machine(t);
  const agent = await start();
  t.after(agent.stop);
  const many = Array.from({ length: 100 }, (_, at) => peer(at + 2));
  await agent.commit('full-resync', [wireguard('wireguard0'), ...many]);
  await clock.advance(100);
  for (let at = 0; at < many.length; at++) vpp.wireguardLinks.setSilent(keyOf(at + 2), true);
  const before = agent.changes.length;
  const link = { src_addr: '192.168.16.1', port: 51_820, public_key: exampleKeys[1]!.publicKey };
  await agent.commit('full-resync', [wireguard('wireguard0', { wireguard: link }), ...many]);
  await clock.advance(100);
  assert.deepEqual(established(agent.sessions), []);
  const changes = agent.changes.slice(before);
  assert.equal(changes.flat().length, many.length);
  assert.ok(changes.length <= 3, `${changes.length} changes`);
});

test('a node at another address has no session until its peer has one', async (t) => {
  const { clock, vpp, start } = await machine(t);
  const agent = await start();
  t.after(agent.stop);
  await agent.commit('full-resync', values);
  await clock.advance(100);
  const seen = () =>
    agent.changes
      .flat()
      .filter(({ publicKey }) => publicKey === keyOf(2))
      .map(({ isEstablished }) => isEstablished);
  vpp.wireguardLinks.setSilent(keyOf(2), true);
  const moved = [wireguard('wireguard0'), peer(2, '192.168.16.99'), peer(3)];
  await agent.commit('full-resync', moved);
  await clock.advance(100);
  assert.deepEqual(seen(), [true, false]);
  vpp.wireguardLinks.setSilent(keyOf(2), false);
  await clock.advance(100);
  assert.deepEqual(seen(), [true, false, true]);
  await agent.commit('full-resync', [wireguard('wireguard0'), peer(3)]);
  await clock.advance(100);
  assert.deepEqual(seen(), [true, false, true, false]);
});

test('a wall clock that is set back by a year delays no loss', async (t) => {
  const { clock, vpp, start } = await machine(t);
  const agent = await start();
  t.after(agent.stop);
  await agent.commit('full-resync', values);
  await clock.advance(100);
  vpp.wireguardLinks.setSilent(keyOf(2), true);
  await clock.advance(100);
  clock.stepWallClock(-365 * 24 * 3_600_000);
  await clock.advance(80_000);
  assert.equal(agent.losses(), 1);
  const { since } = agent.sessions.sessions().find(({ publicKey }) => publicKey === keyOf(2))!;
  const seconds = (clock.wallTime() - since.getTime()) / 1000;
  assert.ok(seconds > 79 && seconds < 81, `${seconds} s`);
});

test('the sessions of a VPP that was restarted are read again', async (t) => {
  const { clock, vpp, start, established } = await machine(t);
  const agent = await start();
  t.after(agent.stop);
  await agent.commit('full-resync', values);
  await clock.advance(100);
  vpp.crash();
  vpp.wireguardLinks.setSilent(keyOf(2), true);
  await vpp.start();
  await clock.advance(20_000);
  assert.deepEqual(established(agent.sessions), []);
  await agent.commit('full-resync', values);
  await clock.advance(100);
  assert.deepEqual(established(agent.sessions), [keyOf(3)]);
});

test('a key that the node does not have', async (t) => {
  const { start } = await machine(t);
  const agent = await start();
  t.after(agent.stop);
  const link = {
    src_addr: '192.168.16.1',
    port: 51_820,
    public_key: testKeyPair('lost').publicKey,
  };
  await assert.rejects(
    agent.commit('full-resync', [wireguard('wireguard0', { wireguard: link })]),
    /does not have the private key/,
  );
  assert.notEqual(exampleKeys[0]?.publicKey, link.public_key);
});
