/** All kinds that are reflected: their objects in the API server, and their records in the datastore. */
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { KubeObject } from '#kubernetes/reflector/objects/object.ts';
import type { KubePod } from '#kubernetes/reflector/objects/pod.ts';
import type { Readers } from '#kubernetes/reflector/reflected.ts';
import { type AnyResource, resources } from '#kubernetes/resources/resources.ts';
import type { KindHandlers, ObjectName, WatchedKind } from '../api-server/api.ts';
import { newCounters, type RecordCounters } from './counters.ts';
import { EndpointRecords, endpointsType, sliceType } from './endpoint-records.ts';
import type { ObjectType } from './kube-object.ts';
import { ObjectRecords, type RecordOutput } from './object-records.ts';
import { RecordTable } from './record-table.ts';
import { type RecordText, recordTexts } from './record-text.ts';

/** One kind of records; the names are those of the original's statistics. */
export interface RecordKind {
  readonly name: string;
  readonly table: RecordTable;
  readonly counters: RecordCounters;
  /** Kinds of the objects that the records are made from. */
  readonly sources: readonly string[];
}

export interface ReflectedKind {
  readonly kind: WatchedKind;
  readonly handlers: KindHandlers;
}

export interface Reflector {
  readonly watches: readonly ReflectedKind[];
  readonly records: readonly RecordKind[];
  readonly nodes: RecordTable;
}

/** Prefix of the records of pods with the label `sfc=true`, which SFC controllers of the original read. */
const SFC_PREFIX = 'sfc-controller/v2/status/network-pod-to-node-map/';

interface KindRow {
  readonly type: ObjectType;
  readonly path: string;
  readonly otherPaths?: readonly string[];
  readonly resource: AnyResource;
}

/** Of both versions, which have the same objects. */
const clusterPolicyPath = (version: string): string =>
  pathOf(`policy.networking.k8s.io/${version}`, 'clusternetworkpolicies');

export const clusterPolicyPaths = [
  clusterPolicyPath('v1beta1'),
  clusterPolicyPath('v1alpha2'),
] as const;

const rows: readonly KindRow[] = [
  row('Namespace', 'v1', 'namespaces', resources.namespace),
  row('NetworkPolicy', 'networking.k8s.io/v1', 'networkpolicies', resources.policy),
  {
    type: { kind: 'ClusterNetworkPolicy', apiVersion: 'policy.networking.k8s.io/v1beta1' },
    path: clusterPolicyPaths[0],
    otherPaths: clusterPolicyPaths.slice(1),
    resource: resources.clusternetworkpolicy,
  },
  row('Service', 'v1', 'services', resources.service),
  row('Node', 'v1', 'nodes', resources.node),
];

/** Their objects have namespaces, the keys of the original have none. */
const sharedKeyRows: readonly KindRow[] = [
  row('NodeConfig', 'nodeconfig.contiv.vpp/v1', 'nodeconfigs', resources.nodeconfig),
  row('CustomNetwork', 'contivpp.io/v1', 'customnetworks', resources.customnetwork),
  row('ExternalInterface', 'contivpp.io/v1', 'externalinterfaces', resources['external-interface']),
  row(
    'ServiceFunctionChain',
    'contivpp.io/v1',
    'servicefunctionchains',
    resources.servicefunctionchain,
  ),
];

const podRow = row('Pod', 'v1', 'pods', resources.pod);

function row(
  kind: ObjectType['kind'],
  apiVersion: string,
  plural: string,
  resource: AnyResource,
): KindRow {
  return { type: { kind, apiVersion }, path: pathOf(apiVersion, plural), resource };
}

function pathOf(apiVersion: string, plural: string): string {
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${plural}`;
}

export interface ReflectorDeps {
  /** Of all records, for example `/vnf-agent/contiv-ksr/`. */
  readonly prefix: string;
  readonly readers: Readers;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createReflector({ prefix, readers, clock, log }: ReflectorDeps): Reflector {
  const records: RecordKind[] = [];
  const newRecords = (
    name: string,
    keyPrefix: string,
    sources: readonly string[] = [name],
  ): RecordKind => {
    const table = new RecordTable(prefix + keyPrefix);
    const one = { name, table, counters: newCounters(), sources };
    records.push(one);
    return one;
  };
  const outputOf = ({ type, resource }: KindRow): RecordOutput => ({
    ...newRecords(type.kind, resource.keyPrefix),
    key: ({ name, namespace }) => resource.key(name, namespace),
    texts: recordTexts(resource, prefix, readers),
  });
  const watchOf = (kind: KindRow, outputs: readonly RecordOutput[]): ReflectedKind => ({
    kind: {
      kind: kind.type.kind,
      path: kind.path,
      ...(kind.otherPaths && { otherPaths: kind.otherPaths }),
    },
    handlers: new ObjectRecords({ type: kind.type, outputs, prefix, log }),
  });

  const watches = rows.map((one) => watchOf(one, [outputOf(one)]));
  for (const one of sharedKeyRows)
    watches.push(watchOf(one, [{ ...outputOf(one), isKeyShared: true }]));
  const sfcPods: RecordOutput = {
    ...newRecords('SfcPod', SFC_PREFIX, [podRow.type.kind]),
    key: ({ name, namespace }: ObjectName) => `${SFC_PREFIX}${name}-namespace-${namespace}`,
    texts: { of: sfcText, closed: () => undefined },
  };
  watches.push(watchOf(podRow, [outputOf(podRow), sfcPods]));

  const endpoints = new EndpointRecords({
    ...newRecords('Endpoints', resources.endpoints.keyPrefix, [endpointsType.kind, sliceType.kind]),
    readers,
    prefix,
    clock,
    log,
  });
  const endpointsPath = pathOf(endpointsType.apiVersion, 'endpoints');
  const slicesPath = pathOf(sliceType.apiVersion, 'endpointslices');
  watches.push(
    { kind: { kind: endpointsType.kind, path: endpointsPath }, handlers: endpoints.endpoints },
    { kind: { kind: sliceType.kind, path: slicesPath }, handlers: endpoints.slices },
  );
  const nodes = records.find(({ name }) => name === 'Node') as RecordKind;
  return { watches, records, nodes: nodes.table };
}

function sfcText(object: KubeObject): RecordText | undefined {
  const { metadata, spec } = object as KubePod;
  if (metadata.labels?.['sfc'] !== 'true') return undefined;
  return { text: JSON.stringify({ pod: metadata.name, node: spec?.nodeName || undefined }) };
}
