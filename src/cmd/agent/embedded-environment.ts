import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import type { LevelStore } from '#datastore/level-store.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import type { Environment, EnvironmentDeps } from './environment.ts';

/** Simulated VPP and Linux in this process, and one store in place of etcd and the local store. */
export function embeddedEnvironment(
  store: KvStore,
  localDisk: DiskStore | undefined,
  parts: EnvironmentDeps,
  external?: LevelStore,
): Environment {
  const { clock, random, loggers } = parts;
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
    addNamespace: (path) => linux.addNamespace(path),
    close: async () => {
      await external?.close();
      await store.close();
    },
  };
}
