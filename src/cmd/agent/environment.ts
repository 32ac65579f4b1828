import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import type { LinuxHost } from '#linux/api.ts';
import type { HostFacts, HostRequirements } from '#linux/kernel/prepare-host.ts';
import type { FlowSource } from '#linux/socket-flows/api.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import type { Connect } from '#vpp/binapi/api.ts';
import type { NamespaceSight } from '#vpp/descriptors/options.ts';
import type { KeyFile } from '#vpp/wireguard/key-file.ts';
import type { AgentAddress } from './cluster/other-agents.ts';

/** The environment of the agent: stores, VPP and Linux. */
export interface Environment {
  /** The store that all nodes share: the state reflected from Kubernetes, and the node IDs. */
  readonly cluster: KvStore;
  /** The store of this node: attachments, addresses. */
  readonly local: KvStore;
  /** Copy of the cluster's store; undefined when the cluster's store is the local one. */
  readonly mirror: KvStore | undefined;
  /** Disk of the local store; undefined: it is in memory. */
  readonly localDisk: DiskStore | undefined;
  /** Disk of the mirror. */
  readonly mirrorDisk: DiskStore | undefined;
  /** Why the mirror could not be opened; undefined: it was, or there is none. */
  readonly mirrorFault?: string | undefined;
  /** Store of the external configuration of gRPC clients; undefined: they are not served. */
  readonly external?: KvStore | undefined;
  /** Its disk; undefined: it is in memory. */
  readonly externalDisk?: DiskStore | undefined;
  readonly connectVpp: Connect;
  /** Path of VPP's CLI socket; undefined: VPP is simulated. */
  readonly vppCliSocket?: string | undefined;
  /** Present in the embedded environment: a real VPP shows its statistics in shared memory. */
  readonly vppStatistics: StatsPort | undefined;
  /** Present in the embedded environment: whether VPP reaches the namespaces of pods by the paths of the agent. */
  readonly vppNamespaces: NamespaceSight | undefined;
  readonly linux: LinuxHost;
  /** The keys of WireGuard of this node. */
  readonly keyFile: KeyFile;
  /** Services at the sockets of this node; undefined: VPP alone has services, of IPv4. */
  readonly socketTable?: SocketTable | undefined;
  /** Why the table could not be opened; undefined: it was, or is not configured. */
  readonly socketFault?: string | undefined;
  /** Connections of the sockets of this node; undefined: none are reported. */
  readonly flowSource?: FlowSource | undefined;
  /** Why they are not; undefined: they are, or are not configured. */
  readonly flowFault?: string | undefined;
  /** Prepares the host for the pods. @throws HostNotReadyError */
  prepareHost(needs: HostRequirements): Promise<HostFacts>;
  /** Present in a demonstration: where the agents of its other nodes listen. */
  readonly agentAddress?: ((node: string) => AgentAddress | undefined) | undefined;
  /** Present in the embedded environment: creates the network namespace of a pod. */
  readonly addNamespace: ((path: string) => void) | undefined;
  close(): Promise<void>;
}

export interface EnvironmentDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
}
