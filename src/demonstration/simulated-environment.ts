import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';

export interface SimulatedEnvironmentDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
}

/** Simulated VPP and Linux in this process, and one store in place of etcd and the local store. */
export function simulatedEnvironment(
  store: KvStore,
  localDisk: DiskStore | undefined,
  { clock, random, loggers }: SimulatedEnvironmentDeps,
  external?: KvStore & DiskStore,
) {
  const linux = new SimLinux(random);
  const log = loggers.get('sim-vpp');
  const vpp = new SimVpp({ host: linux, clock, random, log, keepsRequests: false });
  return {
    cluster: store,
    local: store,
    mirror: undefined,
    localDisk,
    mirrorDisk: undefined,
    external,
    externalDisk: external,
    connectVpp: vpp.connect(),
    vppStatistics: vpp.statistics,
    linux,
    prepareHost: async () => ({ ipv6: true }),
    addNamespace: (path: string) => linux.addNamespace(path),
    close: async () => {
      await external?.close();
      await store.close();
    },
  };
}
