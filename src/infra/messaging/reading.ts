/** Shared by the readers of groups and of partitions. */
import type { Consumer, MessagesStream } from '@platformatic/kafka';
import type { Clock } from '../clock/clock.ts';

/** Limit of a goodbye to brokers that do not answer, after which the connections are cut. */
const LEAVE_MS = 1_500;

export type Stream = MessagesStream<Buffer, Buffer, Buffer, Buffer>;

/** Pauses between attempts to read while Kafka is unavailable. */
export const retryDelays = { firstMs: 500, maxMs: 10_000 };

export function keyText(key: Buffer | null | undefined): string {
  return key ? key.toString() : '';
}

/** Resolves when the work has ended, also if it has failed, or after a limit. */
export async function limited(work: Promise<unknown>, clock: Clock): Promise<void> {
  const ended = new AbortController();
  const limit = clock.sleep(LEAVE_MS, ended.signal).catch(() => undefined);
  await Promise.race([work.catch(() => undefined), limit]);
  ended.abort();
}

/** Stops at once; the library's own `close` waits for the answer of a broker. */
export function stopStream(stream: Stream): void {
  stream.destroy();
  stream.connections.close().catch(() => undefined);
}

/** Leaves the group of the consumer, if a broker answers in time. */
export async function closeConsumer(consumer: Consumer, clock: Clock): Promise<void> {
  await limited(consumer.close(true), clock);
  consumer.connections.close().catch(() => undefined);
}
