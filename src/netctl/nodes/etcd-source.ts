/** Nodes and pods from the records of the state reflector in etcd, as the original's netctl reads them. */
import { type EtcdConfig, etcdOptions, etcdSchema } from '#datastore/config.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { loadConfig, parseConfig } from '#infra/config/load.ts';
import { errorText } from '#infra/errors/errors.ts';
import { type Node, nodeModel } from '#kubernetes/models/node.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { type VppNode, vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import type { MessageModel } from '#models/define.ts';
import type { ClusterNode } from '../command.ts';
import { furtherAddresses } from './further-addresses.ts';
import type { NodeSource } from './node-source.ts';

export interface EtcdSourceOptions {
  /** etcd.conf; undefined: only the variables. */
  readonly file: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The flag or variable that names it. */
  readonly origin: string;
  /** For records that are skipped because they are invalid. */
  readonly warn: (text: string) => void;
  readonly clock: Clock;
}

/** @throws CodedError when etcd does not answer or the file is invalid */
export async function openEtcdSource(options: EtcdSourceOptions): Promise<NodeSource> {
  const { file, env, origin, warn, clock } = options;
  const store = new EtcdStore(etcdOptions(configOf(file), env), clock);
  const records = async <T extends object>(model: MessageModel<T>): Promise<T[]> => {
    const { entries } = await store.list(REFLECTOR_PREFIX + model.keyPrefix);
    return entries.flatMap(({ key, value }) => {
      try {
        return [model.parse(JSON.parse(value), key)];
      } catch (thrown) {
        warn(`ignoring the invalid record ${key}: ${errorText(thrown)}`);
        return [];
      }
    });
  };
  try {
    const [hosts, vppNodes] = await Promise.all([records(nodeModel), records(vppNodeModel)]);
    return {
      name: `${store.name} (${origin})`,
      nodes: joined(hosts, vppNodes),
      async pods() {
        const pods = await records(podModel);
        return pods.map(({ namespace, name, ip_address, ip_addresses, host_ip_address }) => ({
          namespace,
          name,
          address: ip_address || undefined,
          ...furtherAddresses(ip_address, ip_addresses),
          hostAddress: host_ip_address || undefined,
        }));
      },
      close: () => store.close(),
    };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

/** Reads one key, as agents do. @throws CodedError when etcd does not answer or the file is invalid */
export async function probeEtcd({
  file,
  env,
  clock,
}: Pick<EtcdSourceOptions, 'file' | 'env' | 'clock'>): Promise<{ name: string; tookMs: number }> {
  const store = new EtcdStore(etcdOptions(configOf(file), env), clock);
  try {
    const start = clock.now();
    await store.list(`${REFLECTOR_PREFIX}netctl/check`);
    return { name: store.name, tookMs: clock.now() - start };
  } finally {
    await store.close();
  }
}

function configOf(file: string | undefined): EtcdConfig {
  if (file === undefined) return parseConfig(etcdSchema, '', undefined).value;
  const flags = { 'etcd-config': file };
  return loadConfig({ name: 'etcd', schema: etcdSchema }, { flags, env: {}, configDir: '.' }).value;
}

/** Nodes of Kubernetes without an ID, whose agent has not started yet, and IDs without a node of Kubernetes. */
function joined(hosts: readonly Node[], vppNodes: readonly VppNode[]): ClusterNode[] {
  const nodes = new Map<string, ClusterNode>();
  for (const { name, addresses } of hosts) {
    const address =
      addresses.find(({ type }) => type === 'NodeInternalIP') ??
      addresses.find(({ type }) => type === 'NodeExternalIP');
    nodes.set(name, { name, id: undefined, vppAddress: undefined, host: address?.address });
  }
  for (const { name, id, ip_address, ip_addresses } of vppNodes) {
    const [vppAddress] = [...ip_addresses, ip_address].filter((address) => address !== '');
    nodes.set(name, {
      name,
      id,
      vppAddress: vppAddress?.split('/')[0],
      host: nodes.get(name)?.host,
    });
  }
  return [...nodes.values()];
}
