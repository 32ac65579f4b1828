/** Records of Kubernetes objects that decide about policies, and processors that have read them. */
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import {
  type ClusterNetworkPolicy,
  clusterNetworkPolicyModel,
} from '#kubernetes/models/cluster-network-policy.ts';
import { type Namespace, namespaceModel } from '#kubernetes/models/namespace.ts';
import { type Node, nodeModel } from '#kubernetes/models/node.ts';
import { type Pod, podModel } from '#kubernetes/models/pod.ts';
import {
  type Policy,
  type PolicyLabelSelector,
  type PolicyPeer,
  policyModel,
} from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { OwnAddresses } from '#plugins/policy/cache/node-table.ts';
import type { PodPolicy, PolicyDirection, RuleList } from '#plugins/policy/pod-policy.ts';
import { type AttachedPod, PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';

/** The knowledge of a node: the records, and the pods that are attached to it. */
export interface Cluster {
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  readonly policies: readonly Policy[];
  readonly clusterPolicies: readonly ClusterNetworkPolicy[];
  readonly nodes: readonly Node[];
  /** Of nodes, beside those of their objects. */
  readonly ownAddresses: OwnAddresses;
  readonly attachments: ReadonlyMap<string, AttachedPod>;
}

export const emptyCluster: Cluster = {
  pods: [],
  namespaces: [],
  policies: [],
  clusterPolicies: [],
  nodes: [],
  ownAddresses: new Map(),
  attachments: new Map(),
};

type Labels = Readonly<Record<string, string>>;

const labelList = (labels: Labels = {}) =>
  Object.entries(labels).map(([key, value]) => ({ key, value }));

export interface PodInput {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly uid?: string;
  /** The first one is the main one. */
  readonly ips?: readonly string[];
  readonly hostIp?: string;
  /** For example `http TCP 8080`. */
  readonly ports?: readonly string[];
}

/** A record of a pod of the namespace `shop`. */
export function pod(input: PodInput): Pod {
  const { name, namespace = 'shop', labels, uid, ips = [], hostIp = '172.16.0.9' } = input;
  return podModel.canonical({
    name,
    namespace,
    label: labelList(labels),
    labels: { ...labels },
    ...(uid !== undefined && { uid }),
    ip_address: ips[0] ?? '',
    host_ip_address: hostIp,
    ip_addresses: ips.length > 1 ? [...ips] : [],
    container: [{ name: 'main', port: (input.ports ?? []).map(containerPort) }],
  });
}

function containerPort(text: string) {
  const [name = '', protocol, number] = text.split(' ');
  return { name, protocol: protocol as 'TCP' | 'UDP' | 'SCTP', container_port: Number(number) };
}

export function namespace(name: string, labels?: Labels): Namespace {
  return namespaceModel.canonical({ name, label: labelList(labels) });
}

/** A policy `web` of the namespace `shop` that selects all pods. */
export function policy(input: DeepInput<Policy> = {}): Policy {
  return policyModel.canonical({ name: 'web', namespace: 'shop', pods: {}, ...input });
}

/** An Admin policy `admin` that applies to all pods. */
export function clusterPolicy(input: DeepInput<ClusterNetworkPolicy> = {}): ClusterNetworkPolicy {
  return clusterNetworkPolicyModel.canonical({ name: 'admin', ...input });
}

export function node(name: string, addresses: readonly string[], labels?: Labels): Node {
  return nodeModel.canonical({
    name,
    label: labelList(labels),
    addresses: addresses.map((address) => ({ type: 'NodeInternalIP', address })),
  });
}

export function selector(labels: Labels = {}): DeepInput<PolicyLabelSelector> {
  return { match_label: labelList(labels) };
}

export function pods(labels?: Labels): DeepInput<PolicyPeer> {
  return { pods: selector(labels) };
}

export function namespaces(labels?: Labels): DeepInput<PolicyPeer> {
  return { namespaces: selector(labels) };
}

export function block(cidr: string, ...except: string[]): DeepInput<PolicyPeer> {
  return { ip_block: { cidr, except } };
}

/** The attachment of a pod of the namespace `shop`, by its name. */
export function attached(...input: (readonly [name: string, address: string, uid?: string])[]) {
  return new Map<string, AttachedPod>(
    input.map(([name, address, podUid]) => [
      name,
      { pod: name.includes('/') ? name : `shop/${name}`, podUid, addresses: [address] },
    ]),
  );
}

export function kubeState(cluster: Partial<Cluster>): KubeState {
  const { pods: all, namespaces: spaces, policies, clusterPolicies, nodes } = complete(cluster);
  return new Map<string, ReadonlyMap<string, object>>([
    ['pod', new Map(all.map((one) => [resources.pod.key(one.name, one.namespace), one]))],
    ['namespace', new Map(spaces.map((one) => [resources.namespace.key(one.name, ''), one]))],
    [
      'policy',
      new Map(policies.map((one) => [resources.policy.key(one.name, one.namespace), one])),
    ],
    [
      'clusternetworkpolicy',
      new Map(
        clusterPolicies.map((one) => [resources.clusternetworkpolicy.key(one.name, ''), one]),
      ),
    ],
    ['node', new Map(nodes.map((one) => [resources.node.key(one.name, ''), one]))],
  ]);
}

export function testSlices(): Slices {
  return new Slices(new ManualClock());
}

function complete(cluster: Partial<Cluster>): Cluster {
  return { ...emptyCluster, ...cluster };
}

/** A processor that has read the cluster. */
export async function processed(input: Partial<Cluster>): Promise<PolicyProcessor> {
  const cluster = complete(input);
  const { attachments, ownAddresses } = cluster;
  return PolicyProcessor.read(kubeState(cluster), attachments, testSlices(), ownAddresses);
}

/** Plain data: `deepEqual` does not see the contents of AddressSet and PortSet. */
export function plainPolicies(policies: ReadonlyMap<string, PodPolicy>): object {
  return Object.fromEntries(
    [...policies]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { pod: name, addresses, ingress, egress }]) => [
        id,
        {
          pod: name,
          addresses: addresses.map(String),
          ingress: plainRules(ingress),
          egress: plainRules(egress),
        },
      ]),
  );
}

/** The rules as `<tier> <action> <policy>#<rule>: <ports> with <prefixes>`. */
export function plainRules({ policies, rules }: RuleList): object {
  return {
    policies,
    rules: rules.map(
      ({ tier, action, policy: name, rule, ports, peers }) =>
        `${tier} ${action} ${name}#${rule}: ${ports.text} with ${peers.prefixes().join(' ')}`,
    ),
  };
}

/** The policies of one direction and what they permit; `open` without a policy. */
export function permitsOf(
  processor: PolicyProcessor,
  id: string,
  direction: PolicyDirection,
): string | readonly string[] {
  const found = processor.policies().get(id)?.[direction];
  if (found === undefined || found.policies.length === 0) return 'open';
  const permits = found.rules.filter(({ action }) => action === 'Accept');
  return permits.map(({ ports, peers }) => `${ports.text} with ${peers.prefixes().join(' ')}`);
}
