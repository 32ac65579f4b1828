/** Conversations of datagrams as the kernel keeps them, without a kernel. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import type { EndedConnection, OngoingConnection } from '#linux/socket-flows/api.ts';
import { measureConversations } from '#linux/socket-flows/conversations.ts';
import { conversation, conversationKey } from '#linux/socket-flows/layout.ts';

const NS_PER_MS = 1_000_000n;

function entryOf(begunMs: number, lastMs: number, isAnswered: boolean) {
  const key = Buffer.alloc(conversationKey.length);
  key.writeUInt16BE(begunMs, conversationKey.port);
  const entry = Buffer.alloc(conversation.length);
  entry.writeBigUInt64LE(BigInt(begunMs) * NS_PER_MS, conversation.begun);
  entry.writeBigUInt64LE(BigInt(lastMs) * NS_PER_MS, conversation.last);
  entry.writeUInt32LE(isAnswered ? 1 : 0, conversation.flags);
  return [key, entry] as const;
}

describe('conversations', () => {
  it('end when they are silent for a minute, at the time of the last datagram', async () => {
    const clock = new ManualClock();
    const boot = clock.now() - 100_000;
    const deleted: number[] = [];
    const all = [
      entryOf(1_000, 39_000, true),
      entryOf(2_000, 39_999, false),
      entryOf(3_000, 40_001, true),
      // dropped by the kernel meanwhile
      entryOf(4_000, 5_000, true),
    ];
    const found: (OngoingConnection | EndedConnection)[] = [];
    const counts = { begun: 9, removed: 2, lost: 0 };
    const displaced = await measureConversations(
      {
        conversations: {
          entries: async () => [...all],
          delete: (key) => {
            const begun = key.readUInt16BE(conversationKey.port);
            deleted.push(begun);
            return begun !== 4_000;
          },
        },
        counters: {
          get: (name: keyof typeof counts) => counts[name],
          set: (_: 'removed', value: number) => {
            counts.removed = value;
          },
        },
        terms: { time: (time) => boot + Number(time / NS_PER_MS), isOfHost: () => undefined },
        clock,
      },
      (one) => found.push(one),
    );
    assert.deepEqual(deleted, [1_000, 2_000, 4_000]);
    assert.deepEqual([displaced, counts.removed], [3, 4]);
    assert.deepEqual(
      found.map((one) => [
        one.remote.port,
        one.time - boot,
        one.kind === 'ended' ? one.outcome : one.kind,
      ]),
      [
        [1_000, 39_000, 'closed'],
        [2_000, 39_999, 'unanswered'],
        [3_000, 40_001, 'goes-on'],
      ],
    );
  });
});
