import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import type { Logger } from '#infra/log/log.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { WatchedKind } from '#ksr/api-server/api.ts';
import { ApiClient } from '#ksr/api-server/api-client.ts';
import { ApiKindWatch } from '#ksr/api-server/kind-watch.ts';
import { FakeCluster } from './fake-cluster.ts';
import type { FakeObject } from './fake-history.ts';
import { ObjectView } from './object-view.ts';

export const pods: WatchedKind = { kind: 'Pod', path: '/api/v1/pods' };

export const pod = (name: string, fields: object = {}): FakeObject => ({
  metadata: { name, namespace: 'default' },
  ...fields,
});

/** Lines that a watch logs, as `level message`. */
export interface LoggedLines {
  readonly lines: string[];
  readonly log: Logger;
}

export function recordingLogger(): LoggedLines {
  const lines: string[] = [];
  const at = (level: string) => (_fields: unknown, message?: string) => {
    lines.push(`${level} ${message}`);
  };
  const log = { ...silentLogger, info: at('info'), warn: at('warn'), error: at('error') };
  return { lines, log: log as Logger };
}

/** A watch of pods of a fake cluster on virtual time. */
export class WatchedCluster implements Disposable {
  readonly clock = new ManualClock();
  readonly cluster = new FakeCluster(this.clock);
  readonly view = new ObjectView();
  readonly logged = recordingLogger();
  readonly watch: ApiKindWatch;

  constructor(
    prepare: (cluster: FakeCluster) => void = () => undefined,
    seed = 1,
    otherPaths: readonly string[] = [],
  ) {
    this.cluster.install(pods.path);
    prepare(this.cluster);
    this.watch = new ApiKindWatch({
      client: new ApiClient(this.cluster, this.clock),
      clock: this.clock,
      random: seededRandom(seed),
      log: this.logged.log,
      kind: { ...pods, otherPaths },
      handlers: this.view,
    });
  }

  /** The view of the consumer and the state of the server, by name and resource version. */
  get differences(): string[] {
    const versions = (objects: Iterable<FakeObject>) =>
      new Set(
        [...objects].map(({ metadata }) => `${metadata.name} ${metadata['resourceVersion']}`),
      );
    const seen = versions(this.view.objects.values());
    const stored = versions(this.cluster.objects(pods.path));
    return [
      ...[...seen].filter((object) => !stored.has(object)).map((object) => `not stored: ${object}`),
      ...[...stored].filter((object) => !seen.has(object)).map((object) => `not seen: ${object}`),
    ];
  }

  /** Requests since the last call. */
  takeRequests(): string[] {
    return this.cluster.requests.splice(0);
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  /** Lets everything that needs no time happen. */
  async settle(): Promise<void> {
    for (let i = 0; i < 10; i++) await this.clock.advance(0);
  }

  [Symbol.dispose](): void {
    this.watch.close();
  }
}
