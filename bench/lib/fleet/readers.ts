/**
 * A process with many clients that read all records at once, as agents do that start, and keep none of them. A read that
 * fails is begun again after a random delay. The only message is sent when all have read everything.
 */
import { EtcdStore } from '#datastore/etcd/store.ts';
import { Backoff } from '#infra/clock/backoff.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import type { ReadersArgs, ReadersReport } from './messages.ts';

const RETRY = { firstMs: 1_000, maxMs: 30_000 };

const { count, first, port }: ReadersArgs = JSON.parse(process.argv[2]!);
let failures = 0;

async function read(number: number): Promise<void> {
  const random = seededRandom(number + 1);
  const store = new EtcdStore({ endpoints: [`127.0.0.1:${port}`] }, systemClock, random);
  const backoff = new Backoff(RETRY, random);
  const isDone = () =>
    store
      .pages(REFLECTOR_PREFIX, () => undefined)
      .then(
        () => true,
        () => false,
      );
  while (!(await isDone())) {
    failures++;
    await systemClock.sleep(backoff.next());
  }
  await store.close();
}

const keepsAlive = setInterval(() => undefined, 1_000);
await Promise.all(Array.from({ length: count }, (_, at) => read(first + at)));
clearInterval(keepsAlive);
const report: ReadersReport = { failures };
process.send!(report);
process.disconnect();
