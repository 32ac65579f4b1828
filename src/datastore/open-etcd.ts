import type { Clock } from '#infra/clock/clock.ts';
import type { EtcdOptions } from './etcd/options.ts';
import type { EtcdStore } from './etcd/store.ts';

/** etcd. Its client takes 10 MB, and is loaded only where there is an etcd. */
export async function openEtcd(options: EtcdOptions, clock: Clock): Promise<EtcdStore> {
  const { EtcdStore } = await import('./etcd/store.ts');
  return new EtcdStore(options, clock);
}
