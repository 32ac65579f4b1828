/** Starts the agents of the nodes with a fake cluster and fake kubelets. */
import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { problemText } from '#kubernetes/reflector/manifest-problem.ts';
import { FakeCluster } from './fake-cluster.ts';
import { FakeKubelet, type PodAttachment } from './fake-kubelet.ts';

const POLL_MS = 50;
const IDLE_POLLS = 5;
/** After ten seconds the demonstration continues, even if events are still processed. */
const MAX_POLLS = 200;

export interface DemonstratedNode {
  readonly name: string;
  readonly controller: { readonly isIdle: boolean; readonly eventCount: number };
  /** Of the CNI service. */
  readonly cniSocket: string;
  /** Creates the network namespace of a sandbox. */
  readonly addNamespace: (path: string) => void;
  /** Port of the REST server. */
  port(): number;
  start(): Promise<void>;
}

export interface DemonstrationDeps {
  readonly store: KvStore;
  /** Folder with manifests, which are read in the order of their names. */
  readonly manifests: string;
  readonly serviceCidr: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface StartedNode {
  readonly name: string;
  /** Of the REST server. */
  readonly port: number;
  readonly pods: readonly PodAttachment[];
}

export interface StartedDemonstration {
  readonly cluster: FakeCluster;
  readonly nodes: readonly StartedNode[];
}

/**
 * The store is filled before the agents start, so that their startup resyncs find the cluster. A node starts when
 * the one before has its pods: so the nodes have their IDs in the order of their names.
 */
export async function demonstrate(
  nodes: readonly [DemonstratedNode, ...DemonstratedNode[]],
  { store, manifests, serviceCidr, clock, random, log }: DemonstrationDeps,
): Promise<StartedDemonstration> {
  const [first, ...others] = nodes;
  const nodeNames = [first.name, ...others.map(({ name }) => name)] as const;
  const cluster = new FakeCluster({ store, manifests, nodeNames, serviceCidr });
  for (const problem of cluster.problems) log.warn(problemText(problem));
  await cluster.fillStore();
  const started: StartedNode[] = [];
  for (const node of nodes) {
    const { name, cniSocket, addNamespace } = node;
    await node.start();
    const kubelet = new FakeKubelet({ cluster, nodeName: name, addNamespace, random, log });
    started.push({ name, port: node.port(), pods: await kubelet.startPods(cniSocket) });
  }
  await untilIdle(nodes, clock);
  return { cluster, nodes: started };
}

/** The writes of the fake kubelets return as events; waits until none has arrived for a moment. */
async function untilIdle(nodes: readonly DemonstratedNode[], clock: Clock): Promise<void> {
  let seen = -1;
  for (let poll = 0, idle = 0; poll < MAX_POLLS && idle < IDLE_POLLS; poll++) {
    await clock.sleep(POLL_MS);
    const count = nodes.reduce((sum, { controller }) => sum + controller.eventCount, 0);
    const isIdle = nodes.every(({ controller }) => controller.isIdle);
    idle = isIdle && count === seen ? idle + 1 : 0;
    seen = count;
  }
}
