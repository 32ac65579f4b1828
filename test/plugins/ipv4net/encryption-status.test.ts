/** Reports of the encryption for operators: counts and durations over many nodes, and problems in the status. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import type { WireguardSession } from '#plugins/controller/api/ports/wireguard.ts';
import { type NodeEncryption, type NodeLink, nodeEncryptions } from '#plugins/ipv4net/api.ts';
import { EncryptionMetrics } from '#plugins/ipv4net/encryption-metrics.ts';
import { EncryptionStatus } from '#plugins/ipv4net/encryption-status.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { testKeys } from '../test-keys.ts';

const NOW = 10_000_000;

/** @param ended seconds since the two sessions ended */
interface Other {
  readonly state: NodeEncryption;
  readonly ended?: readonly number[];
}

function statusOf(
  others: Readonly<Record<string, Other>>,
  { encryptionProblem, isOn = true }: { encryptionProblem?: string; isOn?: boolean } = {},
) {
  const all = new Map(
    ['own', ...Object.keys(others)].map((name, id): [string, Node] => {
      const keys = [0, 1].map((slot) => ({ public_key: `${name}/${slot}`, is_replaced: false }));
      return [name, { id, name, wireguard: { port: 1, keys } } as unknown as Node];
    }),
  );
  const sessions: readonly WireguardSession[] = Object.entries(others).flatMap(
    ([name, { ended = [] }]) =>
      ended.map((seconds, slot) => ({
        iface: `wireguard${slot}`,
        publicKey: `${name}/${slot}`,
        isEstablished: false,
        since: new Date(NOW - seconds * 1_000),
      })),
  );
  const status = new EncryptionStatus({
    nodeName: 'own',
    nodes: { allNodes: () => all },
    net: {
      nodeLink: ({ name }) => ({ encryption: others[name]?.state }) as unknown as NodeLink,
      encryptionProblem: () => encryptionProblem,
      wiredKeys: () => (isOn ? [] : undefined),
    },
    sessions: () => sessions,
    clock: { wallTime: () => NOW },
  });
  return status;
}

async function seriesOf(status: EncryptionStatus, lifetime = 60): Promise<string[]> {
  const registry = new Registry();
  const keys = await testKeys('own', { wallTime: () => NOW - 90_000 }).ownKeys();
  const metrics = new EncryptionMetrics(registry, {
    status,
    ownKeys: { ownKeys: async () => keys },
    net: {
      wiredKeys: () => (status.report() ? [] : undefined),
      encryptionProblem: () => undefined,
    },
    lifetime,
    clock: { wallTime: () => NOW },
  });
  await metrics.refresh();
  const text = await registry.metrics();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('status of the encryption', () => {
  it('counts all other nodes, each once', () => {
    const others = Object.fromEntries(
      nodeEncryptions.map((state, at) => [`n${at}`, { state }] as const),
    );
    const report = statusOf(others).report()!;
    assert.deepEqual(
      [...report.counts],
      nodeEncryptions.map((state) => [state, 1]),
    );
    assert.deepEqual(report.isolated, ['n2']);
    assert.deepEqual(report.inClearText, ['n3']);
  });

  it('is empty while nothing is encrypted', async () => {
    const status = statusOf({}, { isOn: false });
    assert.equal(status.report(), undefined);
    assert.equal(status.problem(), undefined);
    assert.deepEqual(await seriesOf(status), []);
  });

  it('takes the end of the last session of a node as the beginning', () => {
    const { withoutSession } = statusOf({
      short: { state: 'no-session', ended: [900, 10] },
      long: { state: 'no-session', ended: [300, 400] },
      fresh: { state: 'no-session' },
      fine: { state: 'encrypted', ended: [5_000] },
    }).report()!;
    assert.deepEqual(withoutSession, [
      { name: 'long', duration: 300_000 },
      { name: 'short', duration: 10_000 },
      { name: 'fresh', duration: 0 },
    ]);
  });

  it('is a problem after three minutes without a session, or without keys of this node', () => {
    const missing = (ended: number): Other => ({ state: 'no-session', ended: [ended, ended] });
    assert.equal(statusOf({ a: missing(179) }).problem(), undefined);
    assert.equal(
      statusOf({ a: missing(180), b: missing(20) }).problem(),
      'no session of WireGuard with a for 180 s',
    );
    assert.equal(
      statusOf({ a: missing(180), b: missing(200) }).problem(),
      'no session of WireGuard with b for 200 s, and with 1 more nodes',
    );
    assert.equal(
      statusOf({ a: missing(999) }, { encryptionProblem: 'no disk' }).problem(),
      'no disk',
    );
  });

  it('names at most 20 nodes in metrics, those without a session for the longest time', async () => {
    const many = Array.from({ length: 500 }, (_, at): [string, Other] => [
      `n${at}`,
      { state: at % 2 === 0 ? 'no-session' : 'isolated', ended: [at, at] },
    ]);
    const series = await seriesOf(statusOf(Object.fromEntries(many)));
    assert.equal(series.length, nodeEncryptions.length + 20 + 20 + 2 + 2);
    assert.ok(series.includes('contiv_encryption_nodes{state="no-session"} 250'));
    assert.ok(series.includes('contiv_encryption_no_session_seconds{node="n498"} 498'));
    assert.ok(!series.some((line) => line.includes('{node="n2"}')));
    assert.ok(series.includes('contiv_encryption_key_age_seconds{interface="wireguard1"} 90'));
    assert.ok(
      series.includes('contiv_encryption_key_lifetime_seconds{interface="wireguard0"} 3600'),
    );
  });

  it('has no lifetime of keys that are replaced only by command', async () => {
    const series = await seriesOf(statusOf({ a: { state: 'encrypted' } }), 0);
    assert.ok(!series.some((line) => line.includes('lifetime')));
  });
});
