/** The changes of an etcd, by a watch that shares no code with the project's datastore. */
import { Etcd3, type IWatchResponse } from 'etcd3';
import { systemClock } from '#infra/clock/system.ts';

export interface ObservedChange {
  readonly revision: number;
  readonly key: string;
  /** undefined: the key was deleted. */
  readonly text: string | undefined;
}

const PREFIX = '/vnf-agent/';

export class ReferenceWatch {
  readonly #hosts: readonly string[];
  #history: ObservedChange[] = [];
  /** State before the history that is kept. */
  readonly #base = new Map<string, string>();
  #next = 1;
  #closed = false;
  #client: Etcd3 | undefined;
  readonly #running: Promise<void>;

  constructor(ports: readonly number[]) {
    this.#hosts = ports.map((port) => `127.0.0.1:${port}`);
    this.#running = this.#run();
  }

  /** State below a prefix before its history. */
  base(below: string): ReadonlyMap<string, string> {
    return new Map([...this.#base].filter(([key]) => key.startsWith(below)));
  }

  /** Folds the history into the base: it is not needed any more. */
  fold(): void {
    for (const { key, text } of this.#history.splice(0)) {
      if (text === undefined) this.#base.delete(key);
      else this.#base.set(key, text);
    }
  }

  /** Changes below a prefix, in order. */
  history(below: string): readonly ObservedChange[] {
    return this.#history.filter(({ key }) => key.startsWith(below));
  }

  /** Highest revision that was received. */
  get revision(): number {
    return this.#next - 1;
  }

  /** The database was restored to this revision. */
  rollBack(revision: number): void {
    this.#history = this.#history.filter((one) => one.revision <= revision);
    this.#next = revision + 1;
    this.#client?.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#client?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let at = 0; !this.#closed; at++) {
      const host = this.#hosts[at % this.#hosts.length]!;
      const client = new Etcd3({
        hosts: host,
        grpcOptions: { 'grpc.max_receive_message_length': -1 },
      });
      this.#client = client;
      await this.#follow(client).catch(() => undefined);
      client.close();
      if (!this.#closed) await systemClock.sleep(20);
    }
  }

  /** Resolves or rejects when the stream ends, or sends nothing for a second. */
  async #follow(client: Etcd3): Promise<void> {
    const stream = await client.watchClient.watch();
    const { promise: over, resolve, reject } = Promise.withResolvers<void>();
    let heard = true;
    const look = setInterval(() => {
      if (!heard || this.#closed) resolve();
      heard = false;
      stream.write({ progress_request: {} });
    }, 1000);
    stream.on('data', (response: IWatchResponse) => {
      heard = true;
      if (response.canceled) resolve();
      else this.#take(response);
    });
    stream.on('error', reject);
    stream.on('end', resolve);
    stream.write({
      create_request: {
        key: Buffer.from(PREFIX),
        range_end: Buffer.from('/vnf-agent0'),
        start_revision: this.#next,
      },
    });
    try {
      await over;
    } finally {
      clearInterval(look);
      stream.cancel();
    }
  }

  #take({ events }: IWatchResponse): void {
    const from = this.#next;
    for (const { type, kv } of events) {
      const revision = Number(kv.mod_revision);
      if (revision < from) continue;
      const text = type === 'Put' ? kv.value.toString() : undefined;
      this.#history.push({ revision, key: kv.key.toString(), text });
      this.#next = revision + 1;
    }
  }
}
