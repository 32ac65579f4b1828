/**
 * contiv-ksr in a cluster of 5,000 nodes, killed in the middle of the first writing, and in the middle of a rewrite of all
 * records: what the next instance leaves in etcd is compared with the objects.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd3 } from 'etcd3';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { RealKsr } from '#test/integration/support/ksr.ts';
import { LargeApiServer } from './lib/ksr/large-api-server.ts';
import { differingRecords, synchronized, whenListed, whenUpdated } from './lib/ksr/large-ksr.ts';
import type { Print } from './lib/subprocess.ts';

export const NAME =
  'killed-reflector: the leader is killed while it writes the records of 5,000 nodes';

const ENOUGH = 60_000;

export async function run(print: Print): Promise<void> {
  const etcd = await EtcdServer.start();
  await using server = await LargeApiServer.start();
  const options = { etcd: `127.0.0.1:${etcd.port}`, kubeconfig: server.kubeconfig };
  const client = new Etcd3({ hosts: options.etcd });
  const count = () => client.getAll().prefix(`${REFLECTOR_PREFIX}k8s/`).count();
  try {
    await using first = await RealKsr.launch(options);
    await first.whenLeading();
    await using second = await RealKsr.launch(options);
    while ((await count()) < ENOUGH) await sleep(50);
    await first.end('SIGKILL');
    await report(print, `the first writing, at ${await count()} records`, second, 'mixed');

    const own = { ...options, config: { readers: 'own' } } as const;
    await using third = await RealKsr.launch(own);
    await using fourth = await RealKsr.launch(own);
    await whenListed(third);
    await whenListed(fourth);
    await second.end('SIGTERM');
    const [leader, next] = (await leads(third)) ? [third, fourth] : [fourth, third];
    await whenUpdated(leader, ENOUGH);
    await leader.end('SIGKILL');
    await report(print, `a rewrite, after more than ${ENOUGH} records`, next, 'own');
  } finally {
    client.close();
    await etcd.close();
  }

  async function report(print: Print, what: string, next: RealKsr, readers: 'mixed' | 'own') {
    const start = performance.now();
    await synchronized(next);
    const seconds = (performance.now() - start) / 1000;
    const differing = await differingRecords(etcd, server, readers);
    print(
      `killed in the middle of ${what}: the next one has written all after ${seconds.toFixed(1)} s; ` +
        `${await count()} records, ${differing.length} of them differ ${differing.slice(0, 3).join(', ')}`,
    );
  }
}

/** Whether it is the one of two that leads soon. */
async function leads(ksr: RealKsr): Promise<boolean> {
  await sleep(3_000);
  return ksr.leads();
}
