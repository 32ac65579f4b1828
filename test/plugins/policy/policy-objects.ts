/** Records of Kubernetes objects that decide about policies, and processors that have read them. */
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { type Namespace, namespaceModel } from '#kubernetes/models/namespace.ts';
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
import type { Isolation, PodPolicy, PolicyDirection } from '#plugins/policy/pod-policy.ts';
import { type AttachedPod, PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';

/** The knowledge of a node: the records, and the pods that are attached to it. */
export interface Cluster {
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  readonly policies: readonly Policy[];
  readonly attachments: ReadonlyMap<string, AttachedPod>;
}

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

export function kubeState({ pods: all, namespaces: spaces, policies }: Cluster): KubeState {
  return new Map<string, ReadonlyMap<string, object>>([
    ['pod', new Map(all.map((one) => [resources.pod.key(one.name, one.namespace), one]))],
    ['namespace', new Map(spaces.map((one) => [resources.namespace.key(one.name, ''), one]))],
    [
      'policy',
      new Map(policies.map((one) => [resources.policy.key(one.name, one.namespace), one])),
    ],
  ]);
}

export function testSlices(): Slices {
  return new Slices(new ManualClock());
}

/** A processor that has read the cluster. */
export async function processed(input: Partial<Cluster>): Promise<PolicyProcessor> {
  const cluster: Cluster = {
    pods: [],
    namespaces: [],
    policies: [],
    attachments: new Map(),
    ...input,
  };
  return PolicyProcessor.read(kubeState(cluster), cluster.attachments, testSlices());
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
          ingress: plainIsolation(ingress),
          egress: plainIsolation(egress),
        },
      ]),
  );
}

/** `open`, or the permits as `<policy>#<rule>: <ports> from/to <prefixes>`. */
export function plainIsolation({ policies, permits }: Isolation): object {
  return {
    policies,
    permits: permits.map(
      ({ policy: name, rule, ports, peers }) =>
        `${name}#${rule}: ${ports.text} with ${peers.prefixes().join(' ')}`,
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
  return found.permits.map(
    ({ ports, peers }) => `${ports.text} with ${peers.prefixes().join(' ')}`,
  );
}
