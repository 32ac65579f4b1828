/**
 * Bytes of each kind of record, and processor time of a change of it, in a cluster of 5,000 nodes: of a light agent, which
 * is the watcher alone (it receives and decodes the record), and of the whole agent, whose event is processed, recorded
 * and mirrored. Microseconds of processor time of all threads, without what they take when nothing changes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  endpointsRecord,
  type LargeRecord,
  namespaceRecord,
  nodeRecord,
  OWN_NODE,
  podRecord,
  podsOf,
  policyRecord,
  serviceRecord,
} from './lib/large/large-records.ts';
import { type Stand, withLargeCluster } from './lib/large/stand.ts';
import { Writer } from './lib/large/writer.ts';
import type { Print } from './lib/subprocess.ts';

export const NAME = 'record-costs: bytes and time of each kind of record';

const SECONDS = 10;
const SETTLE_MS = 2_000;
const CHANGES_PER_SECOND = 100;

const own = podsOf(OWN_NODE);

/** Changes of each kind, by the number of the change. */
const kinds: Readonly<Record<string, (turn: number) => LargeRecord>> = {
  'pod of another node': (turn) =>
    podRecord(10 + 5_000 * (turn % 20) + (turn % 4_000), 0, 'running', `v${turn}`),
  'pod of the own node': (turn) => podRecord(own[turn % own.length]!, 0, 'running', `v${turn}`),
  endpoints: (turn) => endpointsRecord(turn % 9_000, () => 1 + (turn % 7)),
  service: (turn) => serviceRecord(turn % 9_000, 1_000 + turn),
  policy: (turn) => policyRecord(turn % 1_900, 1_000 + turn),
  namespace: (turn) => namespaceRecord(turn % 200, `v${turn}`),
  node: (turn) => nodeRecord(2 + (turn % 4_000), `v${turn}`),
};

export async function run(print: Print): Promise<void> {
  await withLargeCluster(print, (stand) => measureKinds(stand, print));
}

async function measureKinds({ etcd, agent, light }: Stand, print: Print): Promise<void> {
  await sleep(SETTLE_MS);
  const cpu = () => ({ light: light.cpu.agents, agent: agent.cpuSeconds });
  const before = cpu();
  await sleep(SECONDS * 1_000);
  const quiet = cpu();
  const perSecond = {
    light: (quiet.light - before.light) / SECONDS,
    agent: (quiet.agent - before.agent) / SECONDS,
  };
  for (const [kind, record] of Object.entries(kinds)) {
    const [key, text = ''] = record(1);
    const start = performance.now();
    const from = cpu();
    let turn = 0;
    const writer = new Writer(etcd, { next: () => record(++turn) }, CHANGES_PER_SECOND);
    await sleep(SECONDS * 1_000);
    await writer.stop();
    await sleep(SETTLE_MS);
    const to = cpu();
    const seconds = (performance.now() - start) / 1_000;
    const each = (who: 'light' | 'agent') =>
      Math.max(0, ((to[who] - from[who] - perSecond[who] * seconds) * 1e6) / writer.count);
    print(
      `${kind.padEnd(20)} ${key.length + text.length} bytes; a change: light agent ${each('light').toFixed(0)} µs, ` +
        `agent ${each('agent').toFixed(0)} µs, ratio ${(each('agent') / each('light')).toFixed(1)}`,
    );
  }
}
