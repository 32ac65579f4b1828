import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import { SimFlowSource } from '#simulator/linux/flow-source.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';

/** Link of the host of each node of a cluster. */
const LINK = 'eth1';

/** The interface of VPP with this link: by it VPP reaches the other nodes. */
export const NIC = `host-${LINK}`;

export interface SimulatedEnvironmentDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
}

export interface SimulatedNodeStores {
  readonly local: KvStore;
  /** Disk of the local store; undefined: it is in memory. */
  readonly localDisk: DiskStore | undefined;
  /** The store that several nodes share, which stays open; undefined: the node is alone, with the local store. */
  readonly cluster?: KvStore | undefined;
  readonly external?: (KvStore & DiskStore) | undefined;
}

/** Simulated VPP and Linux in this process, in place of those of a node. */
export function simulatedEnvironment(
  { local, localDisk, cluster, external }: SimulatedNodeStores,
  { clock, random, loggers }: SimulatedEnvironmentDeps,
) {
  const linux = new SimLinux(random);
  const log = loggers.get('sim-vpp');
  if (cluster) linux.addNic(LINK);
  const vpp = new SimVpp({ host: linux, clock, random, log, keepsRequests: false });
  return {
    cluster: cluster ?? local,
    local,
    mirror: undefined,
    localDisk,
    mirrorDisk: undefined,
    external,
    externalDisk: external,
    connectVpp: vpp.connect(),
    vppStatistics: vpp.statistics,
    vppNamespaces: vpp.namespaces,
    linux,
    flowSource: new SimFlowSource(),
    vpp,
    prepareHost: async () => ({ ipv6: true }),
    addNamespace: (path: string) => linux.addNamespace(path),
    close: async () => {
      await external?.close();
      await local.close();
    },
  };
}
