/**
 * Random clusters whose pods, policies and attachments often concern each other, and random changes of
 * them. Pods of this node have addresses in 10.1.1.0/24 and fd00:1::/64, those of the other node in
 * 10.1.2.0/24 and fd00:2::/64.
 */
import fc from 'fast-check';
import type {
  ClusterNetworkPolicy,
  ClusterNetworkPolicyPeer,
  ClusterNetworkPolicyPort,
} from '#kubernetes/models/cluster-network-policy.ts';
import type { Namespace } from '#kubernetes/models/namespace.ts';
import type { Node } from '#kubernetes/models/node.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type {
  Policy,
  PolicyLabelSelector,
  PolicyPeer,
  PolicyPort,
} from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import type { AttachedPod, PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import type { ProcessorChange } from '#plugins/policy/processor/processor-change.ts';
import {
  type Cluster,
  clusterPolicy,
  emptyCluster,
  namespace,
  node,
  pod,
  policy,
  testSlices,
} from './policy-objects.ts';

export const hostAddresses = ['172.16.0.1', '172.16.0.2'] as const;
/** Of hosts, but not of their objects. */
const ownAddresses = ['172.30.1.0/24', '172.30.2.0/24', '10.1.2.1', 'fd00:2::1'];
const localAddresses = ['10.1.1.2', '10.1.1.3', '10.1.1.4', '10.1.1.5'];
const localAddresses6 = ['fd00:1::2', 'fd00:1::3', 'fd00:1::4', 'fd00:1::5'];
const remoteAddresses = ['10.1.2.2', '10.1.2.3', '10.1.2.4'];
const remoteAddresses6 = ['fd00:2::2', 'fd00:2::3'];

/** Addresses at which verdicts differ: of pods, of hosts, and of neither. */
export const probedAddresses: readonly string[] = [
  ...localAddresses,
  ...localAddresses6,
  ...remoteAddresses,
  ...remoteAddresses6,
  ...hostAddresses,
  '172.30.1.2',
  '172.30.2.1',
  '10.1.2.1',
  'fd00:2::1',
  '10.1.1.130',
  '198.51.100.7',
  '2001:db8::7',
];

/** The ends of ranges in the policies, and ports of containers. */
export const probedPorts: readonly number[] = [1, 79, 80, 81, 8080, 8081, 8090, 8091, 65_535];

export const protocols = ['TCP', 'UDP', 'SCTP'] as const;

function mostly<T, U>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<U>): fc.Arbitrary<T | U> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: other });
}

const someProtocol = mostly(
  fc.constantFrom<(typeof protocols)[number][]>('TCP', 'TCP', 'UDP'),
  fc.constant('SCTP' as const),
);
const someNamespace = fc.constantFrom('red', 'blue');
const somePodName = fc.constantFrom('a', 'b', 'c');
const someUid = fc.constantFrom('u1', 'u2', '');
const someLabels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('web', 'db'));

const someContainerPorts = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom('http', 'dns'), someProtocol, fc.constantFrom(80, 8080, 8090))
    .map((parts) => parts.join(' ')),
  { maxLength: 3 },
);

/** Often none, and often one that another record has, too. */
const someRecordAddresses = fc.oneof(
  fc.constant<string[]>([]),
  fc
    .constantFrom(...localAddresses, ...remoteAddresses, ...localAddresses6, ...remoteAddresses6)
    .map((one) => [one]),
  fc
    .tuple(fc.constantFrom(...remoteAddresses), fc.constantFrom(...remoteAddresses6))
    .chain((both) => fc.constantFrom<string[][]>(both, both.toReversed())),
  fc.constantFrom<string[][]>([hostAddresses[0]], [hostAddresses[1]], ['no address']),
);

export const somePod: fc.Arbitrary<Pod> = fc
  .record({
    name: somePodName,
    namespace: someNamespace,
    labels: someLabels,
    uid: someUid,
    ips: someRecordAddresses,
    hostIp: fc.constantFrom(...hostAddresses, ''),
    ports: someContainerPorts,
  })
  .map(pod);

export const someNamespaceRecord: fc.Arbitrary<Namespace> = fc
  .tuple(
    someNamespace,
    fc.dictionary(
      fc.constantFrom('team', 'kubernetes.io/metadata.name'),
      fc.constantFrom('one', 'two', 'red'),
    ),
  )
  .map(([name, labels]) => namespace(name, labels));

function someSelector(
  keys: string[],
  values: string[],
): fc.Arbitrary<DeepInput<PolicyLabelSelector>> {
  const someValues = fc.subarray(values, { minLength: 1 });
  const someExpression = fc.oneof(
    fc.record({
      key: fc.constantFrom(...keys),
      operator: fc.constantFrom('IN' as const, 'NOT_IN' as const),
      value: someValues,
    }),
    fc.record({
      key: fc.constantFrom(...keys),
      operator: fc.constantFrom('EXISTS' as const, 'DOES_NOT_EXIST' as const),
    }),
  );
  const someInvalidExpression = fc.constantFrom(
    { key: 'app', operator: 'IN' as const },
    { key: 'app', operator: 'EXISTS' as const, value: ['web'] },
    { key: '', operator: 'NOT_IN' as const, value: ['web'] },
  );
  return fc.oneof(
    fc.constant({}),
    fc.record({
      match_label: fc.uniqueArray(
        fc.record({ key: fc.constantFrom(...keys), value: fc.constantFrom(...values) }),
        { maxLength: 2, selector: ({ key }) => key },
      ),
      match_expression: fc.array(mostly(someExpression, someInvalidExpression), { maxLength: 2 }),
    }),
  );
}

const somePodSelector = someSelector(['app', 'tier'], ['web', 'db']);
const someNamespaceSelector = someSelector(
  ['team', 'kubernetes.io/metadata.name'],
  ['one', 'two', 'red'],
);

const someBlock = fc.oneof(
  fc.record({
    cidr: fc.constantFrom(
      '10.1.0.0/16',
      '10.1.1.3/32',
      '10.1.1.0/25',
      '0.0.0.0/0',
      '10.1.1.200/24',
    ),
    except: fc.subarray(['10.1.1.2/31', '10.1.2.0/24', '10.1.1.128/25', '10.1.2.3/32']),
  }),
  fc.record({
    cidr: fc.constantFrom('fd00::/16', '::/0', 'fd00:1::2/128'),
    except: fc.subarray(['fd00:1::/64', 'fd00:2::2/128']),
  }),
  fc.constantFrom(
    { cidr: '10.1.0.0/33' },
    { cidr: '10.1.1.2' },
    { cidr: '10.1.0.0/16', except: ['10.1.1.300/32'] },
    { cidr: 'fd00::/16', except: ['fd00:::/64'] },
    { cidr: '' },
  ),
);

const somePeer: fc.Arbitrary<DeepInput<PolicyPeer>> = mostly(
  fc.oneof(
    fc.record({ pods: somePodSelector }),
    fc.record({ namespaces: someNamespaceSelector }),
    fc.record({
      pods_in_namespaces: fc.record({ pods: somePodSelector, namespaces: someNamespaceSelector }),
    }),
    fc.record({ ip_block: someBlock }),
  ),
  fc.constantFrom<DeepInput<PolicyPeer>[]>(
    {},
    { pods: {}, namespaces: {} },
    { pods: {}, ip_block: { cidr: '0.0.0.0/0' } },
    { pods_in_namespaces: { pods: {} } },
    { pods_in_namespaces: { namespaces: {} } },
  ),
);

const somePort: fc.Arbitrary<DeepInput<PolicyPort>> = mostly(
  fc.oneof(
    fc.record({ protocol: someProtocol, port: fc.record({ number: fc.constantFrom(80, 8080) }) }),
    fc.record({
      protocol: someProtocol,
      port: fc.constant({ number: 8080 }),
      end_port: fc.constantFrom(8080, 8090, 65_535),
    }),
    fc.record({
      protocol: someProtocol,
      port: fc.record({ type: fc.constant('NAME' as const), name: fc.constantFrom('http', 'dns') }),
    }),
    fc.record({ protocol: someProtocol }),
  ),
  fc.constantFrom<DeepInput<PolicyPort>[]>(
    { port: { number: 0 } },
    { port: { number: 65_536 } },
    { port: { number: -1 }, end_port: 80 },
    { port: { number: 8080 }, end_port: 80 },
    { port: { number: 8080 }, end_port: 70_000 },
    { end_port: 8080 },
    { port: { type: 'NAME', name: 'http' }, end_port: 8080 },
    { port: { type: 'NAME' } },
  ),
);

const somePeers = fc.array(somePeer, { maxLength: 3 });
const somePorts = fc.array(somePort, { maxLength: 3 });

export const somePolicy: fc.Arbitrary<Policy> = fc
  .record({
    name: fc.constantFrom('n1', 'n2', 'n3'),
    namespace: someNamespace,
    pods: mostly(somePodSelector, fc.constant(undefined)),
    policy_type: fc.constantFrom<Policy['policy_type'][]>(
      'DEFAULT',
      'INGRESS',
      'EGRESS',
      'INGRESS_AND_EGRESS',
    ),
    ingress_rule: fc.array(fc.record({ from: somePeers, port: somePorts }), { maxLength: 2 }),
    egress_rule: fc.array(fc.record({ to: somePeers, port: somePorts }), { maxLength: 2 }),
  })
  .map(policy);

const someNode: fc.Arbitrary<Node> = fc
  .tuple(
    fc.constantFrom('n1', 'n2'),
    fc.subarray([...hostAddresses]),
    fc.dictionary(fc.constantFrom('zone'), fc.constantFrom('a', 'b'), { maxKeys: 1 }),
  )
  .map(([name, addresses, labels]) => node(name, addresses, labels));

const someOwnAddresses = fc.tuple(fc.constantFrom('n1', 'n2', 'n3'), fc.subarray(ownAddresses));

const somePods = fc.record(
  { pods: somePodSelector, namespaces: someNamespaceSelector },
  { requiredKeys: ['namespaces'] },
);

const someClusterPeer: fc.Arbitrary<DeepInput<ClusterNetworkPolicyPeer>> = mostly(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ pods: somePods }) },
    { weight: 1, arbitrary: fc.record({ nodes: someSelector(['zone'], ['a', 'b']) }) },
    {
      weight: 2,
      arbitrary: fc
        .subarray(
          ['10.1.0.0/16', '10.1.1.3/32', '0.0.0.0/0', 'fd00::/16', '::/0', '172.16.0.2/32'],
          {
            minLength: 1,
            maxLength: 2,
          },
        )
        .map((cidr) => ({ networks: { cidr } })),
    },
  ),
  fc.constantFrom<DeepInput<ClusterNetworkPolicyPeer>[]>(
    {},
    { networks: { cidr: ['10.1.0.0/33'] } },
    { pods: {}, nodes: {} },
  ),
);

const someClusterPort: fc.Arbitrary<DeepInput<ClusterNetworkPolicyPort>> = mostly(
  fc.oneof(
    fc.record({ protocol: someProtocol }),
    fc
      .tuple(someProtocol, fc.constantFrom([80, 80], [8080, 8090], [8080, 65_535]))
      .map(([protocol, [first, last]]) => ({ protocol, first: first!, last: last! })),
    fc.record({ name: fc.constantFrom('http', 'dns') }),
  ),
  fc.constantFrom<DeepInput<ClusterNetworkPolicyPort>[]>(
    { first: 8080, last: 80 },
    { first: 80, last: 70_000 },
  ),
);

const someClusterRules = fc.array(
  fc.record({
    action: fc.constantFrom('ACCEPT' as const, 'DENY' as const, 'PASS' as const),
    closed: mostly(fc.constant(false), fc.boolean()),
    peer: fc.array(someClusterPeer, { minLength: 1, maxLength: 2 }),
    port: fc.array(someClusterPort, { maxLength: 2 }),
  }),
  { maxLength: 3 },
);

export const someClusterPolicy: fc.Arbitrary<ClusterNetworkPolicy> = fc
  .record({
    name: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
    tier: fc.constantFrom('ADMIN' as const, 'BASELINE' as const),
    priority: fc.constantFrom(0, 1, 1000),
    subject: mostly(somePods, fc.constant(undefined)),
    ingress: someClusterRules,
    egress: someClusterRules,
  })
  .map(clusterPolicy);

/** The attachment has its address alone: whichever had it is not attached any more. */
const someAttachment = fc
  .record({
    id: fc.constantFrom('c1', 'c2', 'c3', 'c4', 'c5'),
    pod: fc.tuple(someNamespace, somePodName).map((names) => names.join('/')),
    podUid: fc.constantFrom('u1', 'u2', undefined),
    address: fc.constantFrom(...localAddresses),
    address6: fc.constantFrom(...localAddresses6),
    families: fc.constantFrom<(4 | 6)[][]>([4], [6], [4, 6], [6, 4]),
  })
  .map(({ id, pod: name, podUid, address, address6, families }) => ({
    id,
    pod: {
      pod: name,
      podUid,
      addresses: families.map((family) => (family === 4 ? address : address6)),
    },
  }));

/** A change of one object; undefined: it is deleted. */
export type ClusterChange =
  | ObjectChange<'pod', Pod>
  | ObjectChange<'namespace', Namespace>
  | ObjectChange<'policy', Policy>
  | ObjectChange<'clusternetworkpolicy', ClusterNetworkPolicy>
  | ObjectChange<'node', Node>
  | { readonly kind: 'own addresses'; readonly name: string; readonly value: readonly string[] }
  | {
      readonly kind: 'attachment';
      readonly id: string;
      readonly value: AttachedPod | undefined;
    };

interface ObjectChange<K extends string, T> {
  readonly kind: K;
  readonly name: string;
  /** Empty for namespaces. */
  readonly namespace: string;
  readonly value: T | undefined;
}

export const someChange: fc.Arbitrary<ClusterChange> = fc.oneof(
  { weight: 6, arbitrary: somePod.map((value) => podChange(value, value)) },
  { weight: 2, arbitrary: somePod.map((value) => podChange(value)) },
  { weight: 2, arbitrary: someNamespaceRecord.map((value) => namespaceChange(value, value)) },
  { weight: 1, arbitrary: someNamespaceRecord.map((value) => namespaceChange(value)) },
  { weight: 5, arbitrary: somePolicy.map((value) => policyChange(value, value)) },
  { weight: 2, arbitrary: somePolicy.map((value) => policyChange(value)) },
  { weight: 5, arbitrary: someClusterPolicy.map((value) => clusterChange(value, value)) },
  { weight: 2, arbitrary: someClusterPolicy.map((value) => clusterChange(value)) },
  { weight: 2, arbitrary: someNode.map((value) => nodeChange(value, value)) },
  { weight: 1, arbitrary: someNode.map((value) => nodeChange(value)) },
  { weight: 2, arbitrary: someOwnAddresses.map(([name, value]) => ownChange(name, value)) },
  { weight: 4, arbitrary: someAttachment.map(({ id, pod: value }) => attachmentChange(id, value)) },
  { weight: 2, arbitrary: someAttachment.map(({ id }) => attachmentChange(id)) },
);

function podChange({ name, namespace: space }: Pod, value?: Pod): ClusterChange {
  return { kind: 'pod', name, namespace: space, value };
}

function namespaceChange({ name }: Namespace, value?: Namespace): ClusterChange {
  return { kind: 'namespace', name, namespace: '', value };
}

function policyChange({ name, namespace: space }: Policy, value?: Policy): ClusterChange {
  return { kind: 'policy', name, namespace: space, value };
}

function clusterChange(
  { name }: ClusterNetworkPolicy,
  value?: ClusterNetworkPolicy,
): ClusterChange {
  return { kind: 'clusternetworkpolicy', name, namespace: '', value };
}

function nodeChange({ name }: Node, value?: Node): ClusterChange {
  return { kind: 'node', name, namespace: '', value };
}

function ownChange(name: string, value: readonly string[]): ClusterChange {
  return { kind: 'own addresses', name, value };
}

function attachmentChange(id: string, value?: AttachedPod): ClusterChange {
  return { kind: 'attachment', id, value };
}

/** Most of the objects that there can be. */
export const someCluster: fc.Arbitrary<Cluster> = fc
  .tuple(
    fc.array(somePod, { minLength: 3, maxLength: 8 }),
    fc.array(someNamespaceRecord, { maxLength: 2 }),
    fc.array(somePolicy, { maxLength: 5 }),
    fc.array(someClusterPolicy, { maxLength: 5 }),
    fc.array(someNode, { maxLength: 2 }),
    fc.array(someOwnAddresses, { maxLength: 2 }),
    fc.array(someAttachment, { minLength: 1, maxLength: 5 }),
  )
  .map(([pods, namespaces, policies, clusterPolicies, nodes, own, attachments]) =>
    [
      ...pods.map((value) => podChange(value, value)),
      ...namespaces.map((value) => namespaceChange(value, value)),
      ...policies.map((value) => policyChange(value, value)),
      ...clusterPolicies.map((value) => clusterChange(value, value)),
      ...nodes.map((value) => nodeChange(value, value)),
      ...own.map(([name, value]) => ownChange(name, value)),
      ...attachments.map(({ id, pod: value }) => attachmentChange(id, value)),
    ].reduce(afterChange, emptyCluster),
  );

/** The cluster after a change, and after the ones that `withDetached` puts before it. */
export function afterChange(cluster: Cluster, change: ClusterChange): Cluster {
  const { pods, namespaces, policies, clusterPolicies, nodes, attachments } = cluster;
  switch (change.kind) {
    case 'pod':
      return { ...cluster, pods: replaced(pods, change, change.value) };
    case 'namespace':
      return { ...cluster, namespaces: replaced(namespaces, change, change.value) };
    case 'policy':
      return { ...cluster, policies: replaced(policies, change, change.value) };
    case 'clusternetworkpolicy':
      return { ...cluster, clusterPolicies: replaced(clusterPolicies, change, change.value) };
    case 'node':
      return { ...cluster, nodes: replaced(nodes, change, change.value) };
    case 'own addresses': {
      const { name, value } = change;
      return { ...cluster, ownAddresses: new Map(cluster.ownAddresses).set(name, value) };
    }
    case 'attachment': {
      const after = new Map(attachments);
      after.delete(change.id);
      if (change.value === undefined) return { ...cluster, attachments: after };
      for (const id of holders(after, change.value)) after.delete(id);
      return { ...cluster, attachments: after.set(change.id, change.value) };
    }
  }
}

function replaced<T extends { readonly name: string; readonly namespace?: string }>(
  all: readonly T[],
  { name, namespace: space }: { readonly name: string; readonly namespace: string },
  value: T | undefined,
): T[] {
  const others = all.filter((one) => one.name !== name || (one.namespace ?? '') !== space);
  return value === undefined ? others : [...others, value];
}

/** Attachments that have an address of the pod. */
function holders(attachments: Cluster['attachments'], { addresses }: AttachedPod): string[] {
  return [...attachments]
    .filter(([, one]) => one.addresses.some((address) => addresses.includes(address)))
    .map(([id]) => id);
}

/** A change, after the attachments whose address it gives to another one have ended. */
export function withDetached(cluster: Cluster, change: ClusterChange): ClusterChange[] {
  if (change.kind !== 'attachment' || change.value === undefined) return [change];
  const others = holders(cluster.attachments, change.value).filter((id) => id !== change.id);
  return [...others.map((id) => attachmentChange(id)), change];
}

/** Tells a processor one change. */
export async function applyChange(
  processor: PolicyProcessor,
  change: ClusterChange,
): Promise<ProcessorChange> {
  if (change.kind === 'attachment')
    return processor.setAttachment(change.id, change.value, testSlices());
  if (change.kind === 'own addresses')
    return processor.setOwnAddresses(change.name, change.value, testSlices());
  const { kind, name, namespace: space, value } = change;
  const key = resources[kind].key(name, space);
  return processor.change({ resource: kind, key, current: value }, testSlices());
}
