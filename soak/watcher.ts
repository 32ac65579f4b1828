/**
 * A hundred faults of a real etcd under a continuous writer: kills, suspensions, compactions, restored
 * backups, broken connections in the middle of a replay, and lost leaders. Between resyncs every
 * change must arrive once and in order; after each fault the watcher has the state of a fresh read.
 */

import { WatcherTestbed } from '#test/integration/support/dbwatcher/testbed.ts';
import { withoutEtcd, withoutEtcdctl } from '#test/support/requirements.ts';

export const NAME = 'watcher: a hundred faults of etcd';

const ROUNDS = 100;
const OF_CLUSTER = 20;

type Print = (line: string) => void;

export async function run(print: Print): Promise<void> {
  const reason = withoutEtcd() || withoutEtcdctl();
  if (reason) throw new Error(reason);
  await rounds(print, 1, ROUNDS - OF_CLUSTER, ['kill', 'stop', 'compact', 'restore', 'cut']);
  await rounds(print, 3, OF_CLUSTER, ['loseLeader']);
}

type Fault = 'kill' | 'stop' | 'compact' | 'restore' | 'cut' | 'loseLeader';

async function rounds(
  print: Print,
  members: 1 | 3,
  count: number,
  faults: readonly Fault[],
): Promise<void> {
  const testbed = await WatcherTestbed.start(members);
  try {
    for (let round = 0; round < count; round++) {
      const fault = faults[round % faults.length]!;
      try {
        await testbed[fault]();
      } catch (cause) {
        const { acknowledged, failures, lastFailure } = testbed.writer;
        throw new Error(
          `round ${round + 1}, ${fault}: ${String(cause)} (${acknowledged} writes, ` +
            `${failures} failed, the last one: ${lastFailure})`,
          { cause },
        );
      }
      if ((round + 1) % 20 === 0) print(`${round + 1} rounds`);
    }
  } finally {
    await testbed.close();
  }
  const { rounds: done, resyncs, changes, cutReplays, lost } = testbed.counts;
  const reasons = [...lost].map(([reason, times]) => `${times} x ${reason}`);
  print(
    `${members} member${members > 1 ? 's' : ''}: ${done} rounds of ` +
      `${faults.join(', ')}: ${resyncs} resyncs, ${changes} changes, all once and in order`,
  );
  if (members === 1) print(`  replays cut at least twice: ${cutReplays}`);
  print(`  watches lost: ${reasons.join('; ') || 'none'}`);
}
