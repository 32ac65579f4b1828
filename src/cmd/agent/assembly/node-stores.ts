/** The stores of the node: their status, the state of the agent in that of the cluster, and the wait for a NodeConfig. */
import { wireDiskStore } from '#datastore/wire-disk-store.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { wireStatus } from '#infra/status/wire-status.ts';
import type { NodeConfigGate } from '#plugins/contivconf/api.ts';
import { wireNodeConfigGate } from '#plugins/contivconf/wire-node-config.ts';
import { problemText } from '#plugins/controller/problems.ts';
import type { Environment } from '../environment.ts';
import type { AgentPart, PartDeps } from './agent-part.ts';

type Stores = Pick<Environment, 'cluster' | 'local' | 'localDisk' | 'mirror'>;

export interface NodeStores extends AgentPart, Stores {
  /** Whether other agents use the store of the cluster, too; without etcd it is that of this node alone. */
  readonly isShared: boolean;
  /** Whether the local store says that the node waits for its first NodeConfig. */
  readonly gate: NodeConfigGate;
}

export function nodeStores(deps: PartDeps): NodeStores {
  const { settings, environment, status, registry, clock, random, loggers } = deps;
  const { cluster, local, localDisk, mirror, mirrorDisk, mirrorFault, externalDisk } = environment;
  const { label } = settings;
  const isShared = cluster !== local;
  const disks = [
    { name: 'local-store', affects: 'state', store: localDisk },
    { name: 'mirror', affects: 'readiness', store: mirrorDisk },
    { name: 'external-store', affects: 'readiness', store: externalDisk },
  ] as const;
  const diskComponents = disks.flatMap(({ store, ...disk }) =>
    store ? [wireDiskStore({ ...disk, store, status, clock })] : [],
  );
  if (mirrorFault !== undefined) status.registerProblem('mirror', 'readiness', () => mirrorFault);
  const published = wireStatus({
    config: settings.statusCheck,
    status,
    target: isShared
      ? { prefix: agentPrefix(label), putAll: (entries) => cluster.putAll(entries) }
      : undefined,
    registry,
    clock,
    random,
    log: loggers.get('status'),
  });
  const { gate, component: gateComponent } = wireNodeConfigGate({
    nodeName: label,
    config: settings.contiv,
    store: local,
    problemText,
    status,
    log: loggers.get('contivconf'),
  });
  return {
    cluster,
    local,
    localDisk,
    mirror,
    isShared,
    gate,
    components: [...diskComponents, published, gateComponent],
    routes: [],
  };
}
