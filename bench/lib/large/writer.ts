/** Writes the records of a large cluster, and then changes at a rate. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { ClusterPart } from './cluster-part.ts';
import { type LargeRecord, largeRecords } from './large-records.ts';
import { OrderedWrites } from './ordered-writes.ts';

/** Maximum number of operations in a transaction of etcd by default. */
const BATCH = 100;
const MIB = 2 ** 20;

export async function fill(
  etcd: EtcdServer,
  print: (line: string) => void,
  part = new ClusterPart(),
): Promise<void> {
  const store = etcd.store(etcd.port, 60_000);
  let batch = new Map<string, string>();
  let keys = 0;
  let bytes = 0;
  for (const [key, text] of largeRecords(part)) {
    batch.set(key, text);
    keys++;
    bytes += key.length + text.length;
    if (batch.size < BATCH) continue;
    await store.putAll(batch);
    batch = new Map();
  }
  await store.putAll(batch);
  await store.close();
  print(`${keys} records, ${(bytes / MIB).toFixed(0)} MiB`);
}

/** Remembers when it has written each change. */
export class Writer {
  /** Times of the writes of a key that no event has followed yet. */
  readonly #sent = new Map<string, number[]>();
  readonly #changes: { next(): LargeRecord };
  readonly #perSecond: number;
  readonly #store: ReturnType<EtcdServer['store']>;
  #isGoing = true;
  readonly #running: Promise<void>;
  count = 0;
  failed = 0;
  /** Milliseconds until etcd has answered each write. */
  answers: number[] = [];

  constructor(etcd: EtcdServer, changes: { next(): LargeRecord }, perSecond: number) {
    this.#changes = changes;
    this.#perSecond = perSecond;
    this.#store = etcd.store(etcd.port, 60_000);
    this.#running = this.#run();
  }

  /** @returns milliseconds from the oldest open write of the key; undefined: there is none */
  taken(key: string, end: number): number | undefined {
    const times = this.#sent.get(key) ?? [];
    const [first] = times;
    if (first === undefined || first > end) return undefined;
    this.#sent.delete(key);
    return end - first;
  }

  async stop(): Promise<void> {
    this.#isGoing = false;
    await this.#running;
    await this.#store.close();
  }

  async #run(): Promise<void> {
    const start = performance.now();
    const writes = new OrderedWrites((key, text) => this.#write(key, text));
    for (let count = 0; this.#isGoing; count++) {
      const due = start + (count * 1_000) / this.#perSecond;
      const ms = due - performance.now();
      if (ms > 1) await sleep(ms);
      await writes.add(this.#changes.next());
    }
    await writes.end();
  }

  async #write(key: string, text: string | undefined): Promise<void> {
    const times = this.#sent.get(key) ?? [];
    const start = Date.now();
    times.push(start);
    this.#sent.set(key, times);
    try {
      await (text === undefined ? this.#store.delete(key) : this.#store.put(key, text));
      this.count++;
      this.answers.push(Date.now() - start);
    } catch {
      this.failed++;
    }
  }
}
