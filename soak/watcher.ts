/**
 * A hundred troubles of a real etcd, one after the other, under a writer that never rests: kills,
 * stops, compactions, restored backups, cuts in the middle of a replay, and leaders that are lost.
 * Between resyncs every change must come once and in order; after each trouble the watcher knows what
 * a fresh read gives.
 */

import { WatcherTestbed } from '#test/integration/support/dbwatcher/testbed.ts';
import { withoutEtcd, withoutEtcdctl } from '#test/support/requirements.ts';

export const NAME = 'watcher: a hundred troubles of etcd';

const ROUNDS = 100;
const OF_CLUSTER = 20;

type Print = (line: string) => void;

export async function run(print: Print): Promise<void> {
  const reason = withoutEtcd() || withoutEtcdctl();
  if (reason) throw new Error(reason);
  await rounds(print, 1, ROUNDS - OF_CLUSTER, ['kill', 'stop', 'compact', 'restore', 'cut']);
  await rounds(print, 3, OF_CLUSTER, ['loseLeader']);
}

type Trouble = 'kill' | 'stop' | 'compact' | 'restore' | 'cut' | 'loseLeader';

async function rounds(
  print: Print,
  members: 1 | 3,
  count: number,
  troubles: readonly Trouble[],
): Promise<void> {
  const ground = await WatcherTestbed.start(members);
  try {
    for (let round = 0; round < count; round++) {
      const trouble = troubles[round % troubles.length]!;
      try {
        await ground[trouble]();
      } catch (cause) {
        const { acknowledged, failures, lastFailure } = ground.writer;
        throw new Error(
          `round ${round + 1}, ${trouble}: ${String(cause)} (${acknowledged} writes, ` +
            `${failures} failed, the last one: ${lastFailure})`,
          { cause },
        );
      }
      if ((round + 1) % 20 === 0) print(`${round + 1} rounds`);
    }
  } finally {
    await ground.close();
  }
  const { rounds: done, resyncs, changes, cutReplays, lost } = ground.counts;
  const reasons = [...lost].map(([reason, times]) => `${times} x ${reason}`);
  print(
    `${members} member${members > 1 ? 's' : ''}: ${done} rounds of ` +
      `${troubles.join(', ')}: ${resyncs} resyncs, ${changes} changes, each once and in order`,
  );
  if (members === 1) print(`  replays cut at least twice: ${cutReplays}`);
  print(`  watches lost: ${reasons.join('; ') || 'none'}`);
}
