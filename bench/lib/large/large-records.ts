/** Records of a cluster of 5,000 nodes: those of contiv-ksr from the objects of an API server, and those of the agents. */
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';
import { type AnyResource, REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { largeCluster, NODES, PODS, PODS_OF_SERVICE } from '../ksr/large-cluster.ts';
import type { ClusterPart } from './cluster-part.ts';

/** Key and text in etcd; undefined: the key is deleted. */
export type LargeRecord = readonly [key: string, text: string | undefined];

/** Networks with enough subnets for all nodes; the pods have the addresses that the objects say. */
export const largeIpam = {
  podSubnetCIDR: '10.64.0.0/10',
  podSubnetOneNodePrefixLen: 24,
  vppHostSubnetCIDR: '172.20.0.0/14',
  vppHostSubnetOneNodePrefixLen: 26,
  nodeInterconnectCIDR: '198.18.0.0/16',
  vxlanCIDR: '198.19.0.0/16',
  serviceCIDR: '10.96.0.0/16',
};

/** The node of the agent, whose ID is its number. */
export const OWN_NODE = 1;

const kinds = new Map(largeCluster.map((one) => [one.kind, one]));

interface Meta {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
}
interface PodObject extends Meta {
  readonly metadata: Meta['metadata'] & { readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly nodeName: string };
  readonly status: { readonly podIP: string };
}

function objectOf(kind: string, number: number): object {
  return kinds.get(kind)!.object(number);
}

function reflectedRecord(kind: string, object: object): readonly [string, string] {
  const { reflected, rejection } = reflect({ ...object, kind } as ReflectedObject, 'mixed');
  if (!reflected) throw new Error(`${rejection.name}: ${rejection.reason}`);
  return textOf(reflected.resource, reflected.key, reflected.value);
}

function textOf(resource: AnyResource, key: string, value: object): readonly [string, string] {
  return [REFLECTOR_PREFIX + key, valueText(resource, value)];
}

export function nodeName(node: number): string {
  return (objectOf('Node', node) as Meta).metadata.name;
}

/** The number of its service, from which its endpoints and name follow. */
export function serviceOf(pod: number): number {
  return Math.floor(pod / PODS_OF_SERVICE);
}

/** A pod in its n-th life: each one has a name and an ID of its own, and the address of the one before. */
function podObject(pod: number, life: number): PodObject {
  const object = objectOf('Pod', pod) as PodObject;
  if (life === 0) return object;
  const { name, uid } = object.metadata;
  const metadata = { ...object.metadata, name: `${name}${life}`, uid: `${uid}${life}` };
  return { ...object, metadata };
}

export function podName(pod: number, life = 0): { name: string; namespace: string } {
  return podObject(pod, life).metadata;
}

export function podAddress(pod: number): string {
  return podObject(pod, 0).status.podIP;
}

/** @param state `pending`: it has no address yet */
export function podRecord(
  pod: number,
  life: number,
  state: 'running' | 'pending' | 'deleted' = 'running',
  version = 'v2.14',
): LargeRecord {
  const object = podObject(pod, life);
  const labels = { ...object.metadata.labels, version };
  const status = state === 'pending' ? { phase: 'Pending' } : object.status;
  const metadata = { ...object.metadata, labels };
  const [key, text] = reflectedRecord('Pod', { ...object, metadata, status });
  return [key, state === 'deleted' ? undefined : text];
}

/** @param lives of pods: -1 is one that does not serve */
export function endpointsRecord(service: number, lives: (pod: number) => number): LargeRecord {
  const { name, namespace } = (objectOf('Service', service) as Meta).metadata;
  const first = service * PODS_OF_SERVICE;
  const addresses = Array.from({ length: PODS_OF_SERVICE }, (_, at) => first + at)
    .filter((pod) => lives(pod) >= 0)
    .map((pod) => {
      const { metadata, spec, status } = podObject(pod, lives(pod));
      return {
        ip: status.podIP,
        node_name: spec.nodeName,
        target_ref: { kind: 'Pod', namespace, name: metadata.name, uid: metadata.uid },
      };
    });
  const value = endpointsModel.canonical({
    name,
    namespace,
    endpoint_subsets: [{ addresses, ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }],
  });
  return textOf(resources.endpoints, endpointsModel.key(value), value);
}

/** @param port that it serves */
export function serviceRecord(service: number, port = 80): LargeRecord {
  const object = objectOf('Service', service) as { readonly spec: object };
  const ports = [{ name: 'http', port, targetPort: 'http', protocol: 'TCP' }];
  return reflectedRecord('Service', { ...object, spec: { ...object.spec, ports } });
}

/** @param port that it permits */
export function policyRecord(policy: number, port = 8080): LargeRecord {
  const object = objectOf('NetworkPolicy', policy) as {
    readonly spec: { readonly ingress: readonly object[] };
  };
  const ports = [{ port, protocol: 'TCP' }];
  const ingress = object.spec.ingress.map((rule) => ({ ...rule, ports }));
  return reflectedRecord('NetworkPolicy', { ...object, spec: { ...object.spec, ingress } });
}

/** @param version a label */
export function namespaceRecord(namespace: number, version: string): LargeRecord {
  return labelled('Namespace', namespace, version);
}

/** @param version a label */
export function nodeRecord(node: number, version: string): LargeRecord {
  return labelled('Node', node, version);
}

function labelled(kind: string, number: number, version: string): LargeRecord {
  const object = objectOf(kind, number) as PodObject;
  const labels = { ...object.metadata.labels, version };
  return reflectedRecord(kind, { ...object, metadata: { ...object.metadata, labels } });
}

/** Record of the agent of a node; the first node has the last ID. */
export function vppNodeRecord(node: number): readonly [string, string] {
  const id = node === 0 ? NODES : node;
  const value = vppNodeModel.canonical({
    id,
    name: nodeName(node),
    ip_addresses: [`198.18.${id >> 8}.${id & 255}/16`],
  });
  return textOf(resources.vppnode, vppNodeModel.key(value), value);
}

/** Keys and texts of all records, without those of the own node's agent and pods, which get their addresses of it. */
export function* largeRecords(part: ClusterPart): Generator<readonly [string, string]> {
  const numbers: Readonly<Record<string, readonly number[]>> = {
    Pod: part.pods,
    Service: part.services,
    NetworkPolicy: part.policies,
    Node: Array.from({ length: part.nodes }, (_, at) => at),
  };
  const lives = livesIn(part);
  for (const { kind, count } of largeCluster) {
    if (kind === 'EndpointSlice') continue;
    for (const at of numbers[kind] ?? Array.from({ length: count }, (_, number) => number)) {
      if (kind === 'Service') yield endpointsRecord(at, lives) as readonly [string, string];
      if (kind === 'Node' && at !== OWN_NODE) yield vppNodeRecord(at);
      if (kind === 'Pod' && at % NODES === OWN_NODE) continue;
      yield reflectedRecord(kind, objectOf(kind, at));
    }
  }
}

/** For `endpointsRecord`: the pods of a part of the cluster serve, others do not exist. */
export function livesIn(
  part: ClusterPart,
  lives: ReadonlyMap<number, number> = new Map(),
): (pod: number) => number {
  return (pod) => (part.hasPod(pod) ? (lives.get(pod) ?? 0) : -1);
}

/** Numbers of the pods of a node. */
export function podsOf(node: number): number[] {
  return Array.from({ length: PODS / NODES }, (_, at) => node + at * NODES);
}
