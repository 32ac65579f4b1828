import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import type { LinuxHost } from '#linux/api.ts';
import type { HostFacts, HostRequirements } from '#linux/iproute/prepare-host.ts';
import type { Connect } from '#vpp/binapi/api.ts';

/** What the agent runs on: stores, VPP and Linux. */
export interface Environment {
  /** Shared by all nodes: what is reflected from Kubernetes, and the node IDs. */
  readonly cluster: KvStore;
  /** Of this node alone: attachments, addresses. */
  readonly local: KvStore;
  /** Copy of the cluster's store; undefined when that is a local one itself. */
  readonly mirror: KvStore | undefined;
  readonly connectVpp: Connect;
  readonly linux: LinuxHost;
  /** Sets what pods need of the machine. @throws HostNotReadyError */
  prepareHost(needs: HostRequirements): Promise<HostFacts>;
  /** Present in the embedded environment: makes the network namespace of a pod. */
  readonly addNamespace: ((path: string) => void) | undefined;
  close(): Promise<void>;
}

export interface EnvironmentDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
}
