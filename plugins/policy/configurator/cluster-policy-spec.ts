/**
 * A policy of the cluster, checked and compiled. It fails closed as its API says: a rule of which a part is unknown or
 * invalid matches nothing if it accepts, and denies all if it denies or passes.
 */
import { closedClusterPolicies } from '#kubernetes/models/closed-cluster-policy.ts';
import type {
  ClusterNetworkPolicy,
  ClusterNetworkPolicyPeer,
  ClusterNetworkPolicyPort,
  ClusterNetworkPolicyRule,
} from '#kubernetes/models/cluster-network-policy.ts';
import type { PolicyLabelSelector } from '#kubernetes/models/policy.ts';
import { parseCidr } from '#models/ip.ts';
import { AddressSet } from '../address-set.ts';
import { LabelSelector } from '../cache/label-selector.ts';
import type { PeerSelectorSpec } from '../cache/peer-selector.ts';
import type { PortName } from '../cache/policy-pod.ts';
import type { PolicyDirection } from '../pod-policy.ts';
import { allPorts, PortSet, type ProtocolPorts, policyProtocols } from '../port-set.ts';
import type { PeersSpec } from './peers-spec.ts';
import type { PolicySpec, RuleSpec } from './policy-spec.ts';
import type { PortsSpec } from './ports-spec.ts';

const MAX_PORT = 65_535;

const actions = { ACCEPT: 'Accept', DENY: 'Deny', PASS: 'Pass' } as const;

const everyone: PeersSpec = {
  isEveryone: true,
  selectors: [],
  blocks: AddressSet.none,
  nodes: [],
};
const everyPort: PortsSpec = { numbers: PortSet.any, names: [] };

export function clusterPolicySpec(name: string, record: ClusterNetworkPolicy): PolicySpec {
  const unreadable = closedClusterPolicies.unreadableParts(record);
  const problems = unreadable === undefined ? [] : [`it cannot be read as a whole: ${unreadable}`];
  const subject = subjectOf(record, problems);
  const rulesOf = (direction: PolicyDirection): RuleSpec[] =>
    record[direction].flatMap((one, index) => {
      const rule = subject === undefined ? { ...one, closed: true } : one;
      return ruleSpec(direction, index, rule, problems);
    });
  return {
    name,
    tier: record.tier === 'ADMIN' ? 'Admin' : 'Baseline',
    priority: record.priority,
    pods: subject?.pods ?? LabelSelector.everything,
    namespaces: subject?.namespaces ?? LabelSelector.everything,
    isolates: { ingress: false, egress: false },
    ingress: rulesOf('ingress'),
    egress: rulesOf('egress'),
    problems,
  };
}

interface Subject {
  readonly pods: LabelSelector;
  readonly namespaces: LabelSelector;
}

/** An absent subject is all pods. @returns undefined for an invalid one */
function subjectOf({ subject }: ClusterNetworkPolicy, problems: string[]): Subject | undefined {
  if (subject === undefined)
    return { pods: LabelSelector.everything, namespaces: LabelSelector.everything };
  const report = (problem: string) =>
    problems.push(`its subject is invalid: ${problem}; it denies all, to and from all pods`);
  const pods = selectorOf(subject.pods, report);
  const namespaces = selectorOf(subject.namespaces, report);
  return pods && namespaces && { pods, namespaces };
}

function selectorOf(
  record: PolicyLabelSelector | undefined,
  report: (problem: string) => void,
): LabelSelector | undefined {
  return record === undefined ? LabelSelector.everything : LabelSelector.of(record, report);
}

/** None for a rule that accepts nothing. */
function ruleSpec(
  direction: PolicyDirection,
  index: number,
  record: ClusterNetworkPolicyRule,
  problems: string[],
): RuleSpec[] {
  const action = actions[record.action];
  const named = { direction, index, ...(record.name !== '' && { name: record.name }) };
  let isClosed = record.closed;
  const close = (problem: string) => {
    isClosed = true;
    const effect = action === 'Accept' ? 'accepts nothing' : 'denies all';
    problems.push(`${direction} rule ${index} ${effect}: ${problem}`);
  };
  const ports = portsOf(record.port, close);
  // a closed record has none; another one without peers would deny nothing
  if (record.peer.length === 0 && !record.closed) close('it has no peers');
  const peers = peersOf(record.peer, ports.names, action === 'Deny', close);
  if (!isClosed) return [{ ...named, action, ports, peers }];
  if (action === 'Accept') return [];
  return [{ ...named, action: 'Deny', ports: everyPort, peers: everyone }];
}

function portsOf(
  ports: readonly ClusterNetworkPolicyPort[],
  close: (problem: string) => void,
): PortsSpec {
  if (ports.length === 0) return everyPort;
  const numbers: ProtocolPorts[] = [];
  const names: PortName[] = [];
  for (const { protocol, first, last, name } of ports) {
    if (name !== '') names.push(...policyProtocols.map((one) => ({ protocol: one, name })));
    else if (first === 0 && last === 0) numbers.push({ protocol, ...allPorts });
    else if (first < 1 || last > MAX_PORT || last < first)
      close(`${first} to ${last} are no ports of ${protocol}`);
    else numbers.push({ protocol, first, last });
  }
  const isFirst = (one: PortName, at: number): boolean =>
    at === names.findIndex(({ protocol, name }) => protocol === one.protocol && name === one.name);
  return { numbers: PortSet.of(numbers), names: names.filter(isFirst) };
}

function peersOf(
  peers: readonly ClusterNetworkPolicyPeer[],
  portNames: readonly PortName[],
  isDenying: boolean,
  close: (problem: string) => void,
): PeersSpec {
  const selectors: PeerSelectorSpec[] = [];
  const blocks: AddressSet[] = [];
  const nodes: LabelSelector[] = [];
  for (const [at, peer] of peers.entries()) {
    const tell = (problem: string) => close(`peer ${at}: ${problem}`);
    const isSeveral = Object.values(peer).filter((field) => field !== undefined).length !== 1;
    if (isSeveral) {
      tell('it has no kind of peers, or several');
    } else if (peer.pods !== undefined) {
      const pods = selectorOf(peer.pods.pods, tell);
      const namespaces = selectorOf(peer.pods.namespaces, tell);
      if (pods && namespaces) selectors.push({ pods, namespaces, portNames, isDenying });
    } else if (portNames.length > 0) {
      tell('only pods have ports with names');
    } else if (peer.nodes !== undefined) {
      const selector = selectorOf(peer.nodes, tell);
      if (selector) nodes.push(selector);
    } else {
      const cidrs = peer.networks?.cidr ?? [];
      if (cidrs.length === 0) tell('it has no networks');
      const invalid = cidrs.find((text) => parseCidr(text) === undefined);
      if (invalid !== undefined) tell(`"${invalid}" is not a CIDR`);
      blocks.push(AddressSet.of(cidrs));
    }
  }
  return { isEveryone: false, selectors, blocks: AddressSet.union(blocks), nodes };
}
