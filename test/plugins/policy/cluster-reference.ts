/**
 * The semantics of ClusterNetworkPolicies, in plain words and without a thought of speed. It shares no code with the
 * processor, and works on the records.
 */
import type {
  ClusterNetworkPolicy,
  ClusterNetworkPolicyPeer,
  ClusterNetworkPolicyPort,
  ClusterNetworkPolicyRule,
} from '#kubernetes/models/cluster-network-policy.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { PolicyDirection } from '#plugins/policy/pod-policy.ts';
import type { AttachedPod } from '#plugins/policy/processor/policy-processor.ts';
import type { Cluster } from './policy-objects.ts';
import {
  isInCidr,
  isValid,
  podsAt,
  recordOf,
  selects,
  selectsNamespace,
  type Target,
} from './reference.ts';

type Asked = Pick<Target, 'protocol' | 'port'>;
type Action = ClusterNetworkPolicyRule['action'];
/** Of a pod or a policy that cannot be read it is unknown. */
type Answer = boolean | 'unknown';

export interface Decider {
  readonly action: 'ACCEPT' | 'DENY';
  readonly policy: string;
  /** Position in its rules of this direction; undefined: it is unknown which ones concern the pod. */
  readonly rule: number | undefined;
}

/** The rule of one tier that decides; undefined: none, or the next tier decides. */
export function deciderOfTier(
  cluster: Cluster,
  tier: ClusterNetworkPolicy['tier'],
  direction: PolicyDirection,
  own: AttachedPod,
  other: string,
  asked: Asked,
): Decider | undefined {
  const record = recordOf(cluster, own);
  const ordered = cluster.clusterPolicies
    .filter((policy) => policy.tier === tier)
    .sort((a, b) => a.priority - b.priority || (a.name < b.name ? -1 : 1));
  for (const policy of ordered) {
    const applies = isSubject(cluster, policy, own, record);
    if (applies === false) continue;
    const isBroken = !isValidSubject(policy);
    const rules = policy[direction].map((rule) => effective(rule, isBroken));
    if (applies === 'unknown') {
      if (rules.some(({ action }) => action !== 'ACCEPT'))
        return { action: 'DENY', policy: policy.name, rule: undefined };
      continue;
    }
    for (const [at, rule] of rules.entries()) {
      const action = match(cluster, rule, direction, record as Pod, other, asked);
      if (action === 'PASS') return undefined;
      if (action !== undefined) return { action, policy: policy.name, rule: at };
    }
  }
  return undefined;
}

interface Effective {
  readonly action: Action;
  readonly rule: ClusterNetworkPolicyRule | 'all' | 'nothing';
}

/** A rule that cannot be read accepts nothing, or denies all. */
function effective(rule: ClusterNetworkPolicyRule, isBroken: boolean): Effective {
  const { action } = rule;
  if (!isBroken && !rule.closed && isValidRule(rule)) return { action, rule };
  return action === 'ACCEPT' ? { action, rule: 'nothing' } : { action: 'DENY', rule: 'all' };
}

function isValidRule({ peer: peers, port: ports }: ClusterNetworkPolicyRule): boolean {
  const hasNames = ports.some(({ name }) => name !== '');
  return (
    peers.length > 0 &&
    ports.every(
      ({ name, first, last }) =>
        name !== '' ||
        (first === 0 && last === 0) ||
        (first >= 1 && first <= last && last <= 65_535),
    ) &&
    peers.every(({ pods, nodes, networks }) => {
      if ([pods, nodes, networks].filter((one) => one !== undefined).length !== 1) return false;
      if (pods)
        return [pods.pods, pods.namespaces].every((one) => one === undefined || isValid(one));
      if (hasNames) return false;
      if (nodes) return isValid(nodes);
      const cidrs = networks?.cidr ?? [];
      return cidrs.length > 0 && cidrs.every((cidr) => isInCidr('10.0.0.1', cidr) !== undefined);
    })
  );
}

function isValidSubject({ subject }: ClusterNetworkPolicy): boolean {
  return [subject?.pods, subject?.namespaces].every((one) => one === undefined || isValid(one));
}

function isSubject(
  cluster: Cluster,
  policy: ClusterNetworkPolicy,
  own: AttachedPod,
  record: Pod | undefined,
): Answer {
  const namespace = own.pod.split('/')[0] ?? '';
  const everything = { match_label: [], match_expression: [] };
  const valid = isValidSubject(policy) ? policy.subject : undefined;
  const { pods = everything, namespaces = everything } = valid ?? {};
  if (record !== undefined && !selects(pods, record.label)) return false;
  const isSpace = selectsNamespace(cluster, namespaces, namespace);
  return isSpace === true && record === undefined ? 'unknown' : isSpace;
}

function match(
  cluster: Cluster,
  { action, rule }: Effective,
  direction: PolicyDirection,
  record: Pod,
  other: string,
  asked: Asked,
): Action | undefined {
  if (rule === 'nothing') return undefined;
  if (rule === 'all') return action;
  if (action !== 'PASS') return isFound(rule, action === 'DENY') ? action : undefined;
  // what it may match, but not certainly
  if (isFound(rule, false)) return 'PASS';
  return isFound(rule, true) ? 'DENY' : undefined;

  function isFound({ peer: peers, port }: ClusterNetworkPolicyRule, isDenying: boolean): boolean {
    const isPort = (selected: readonly (Pod | undefined)[]): boolean =>
      matchesPort(port, direction === 'ingress' ? [record] : selected, isDenying);
    return peers.some((peer) => {
      if (peer.networks)
        return peer.networks.cidr.some((cidr) => isInCidr(other, cidr)) && isPort([]);
      if (peer.nodes) return isNode(cluster, peer.nodes, other, isDenying) && isPort([]);
      const selected = selectedPods(cluster, peer, other, isDenying);
      return selected.length > 0 && isPort(selected);
    });
  }

  function matchesPort(
    ports: readonly ClusterNetworkPolicyPort[],
    receivers: readonly (Pod | undefined)[],
    isDenying: boolean,
  ): boolean {
    if (ports.length === 0) return true;
    return ports.some(({ protocol, first, last, name }) => {
      if (name === '')
        return (
          protocol === asked.protocol &&
          ((first === 0 && last === 0) || (first <= asked.port && asked.port <= last))
        );
      // the first container that has the name
      const has = receivers.map((pod) => {
        const all = pod?.container.flatMap((one) => one.port) ?? [];
        const found = all.find((one) => one.name === name && one.protocol === asked.protocol);
        return pod === undefined ? asked.port > 0 : found?.container_port === asked.port;
      });
      return isDenying ? has.includes(true) : has.length > 0 && has.every((one) => one);
    });
  }
}

/** Of several owners of an address one is enough for a rule that denies, and an unknown one, else all are needed. */
function selectedPods(
  cluster: Cluster,
  { pods }: ClusterNetworkPolicyPeer,
  address: string,
  isDenying: boolean,
): readonly (Pod | undefined)[] {
  const owners = podsAt(cluster, address);
  const everything = { match_label: [], match_expression: [] };
  const isSpaceSelected = (name: string): boolean => {
    const answer = selectsNamespace(cluster, pods?.namespaces ?? everything, name);
    return answer === 'unknown' ? isDenying : answer;
  };
  const isSelected = (pod: Pod | undefined): boolean =>
    pod === undefined
      ? isDenying
      : selects(pods?.pods ?? everything, pod.label) && isSpaceSelected(pod.namespace);
  const found = owners.filter(isSelected);
  return isDenying || found.length === owners.length ? found : [];
}

function isNode(
  { nodes, ownAddresses }: Cluster,
  selector: NonNullable<ClusterNetworkPolicyPeer['nodes']>,
  address: string,
  isDenying: boolean,
): boolean {
  const names = new Set([...nodes.map(({ name }) => name), ...ownAddresses.keys()]);
  return [...names].some((name) => {
    const object = nodes.find((one) => one.name === name);
    const own = ownAddresses.get(name) ?? [];
    const has =
      object?.addresses.some((one) => one.address === address) ||
      own.some((one) => one === address || isInCidr(address, one) === true);
    const labels = object?.label ?? [];
    return has && (labels.length === 0 ? isDenying : selects(selector, labels));
  });
}
