/**
 * A ClusterNetworkPolicy as a record. It is read part by part. A rule of which a part cannot be read, or is not supported, is
 * closed as the API says: it accepts nothing, or denies all. A policy without a readable subject applies its rules, closed, to
 * all pods; without a readable tier or priority it denies all.
 */
import { Compile, type Validator } from 'typebox/compile';
import { type DeepInput, InvalidModelError } from '#models/model.ts';
import { closedClusterPolicies, closedClusterRule } from '../models/closed-cluster-policy.ts';
import { unreadableLabel, unreadableReason } from '../models/closed-policy.ts';
import {
  type ClusterNetworkPolicy,
  type ClusterNetworkPolicyPeer,
  type ClusterNetworkPolicyPort,
  type ClusterNetworkPolicyRule,
  clusterNetworkPolicyModel,
} from '../models/cluster-network-policy.ts';
import {
  ClusterAction,
  ClusterEgressPeer,
  ClusterEgressRule,
  ClusterIngressPeer,
  ClusterIngressRule,
  ClusterPolicySpec,
  ClusterProtocol,
  ClusterRules,
  ClusterSubject,
  clusterPeerFault,
  clusterProtocolFault,
  clusterSubjectFault,
  type KubeClusterNetworkPolicy,
} from './objects/cluster-network-policy.ts';
import { PartReader } from './objects/part-reader.ts';
import { selectorValue } from './policy.ts';

const parts = {
  spec: new PartReader(ClusterPolicySpec),
  subject: new PartReader(ClusterSubject, clusterSubjectFault),
  rules: new PartReader(ClusterRules),
  ingress: new PartReader(ClusterIngressRule),
  egress: new PartReader(ClusterEgressRule),
  ingressPeer: new PartReader(ClusterIngressPeer, clusterPeerFault),
  egressPeer: new PartReader(ClusterEgressPeer, clusterPeerFault),
  protocol: new PartReader(ClusterProtocol, clusterProtocolFault),
};

const actions = { Accept: 'ACCEPT', Deny: 'DENY', Pass: 'PASS' } as const;

type Report = (problem: string) => void;
type Direction = 'ingress' | 'egress';
type Rule = DeepInput<ClusterNetworkPolicyRule>;
type Subject = NonNullable<DeepInput<ClusterNetworkPolicy>['subject']>;

export function clusterNetworkPolicyValue(policy: KubeClusterNetworkPolicy): ClusterNetworkPolicy {
  const { name } = policy.metadata;
  const problems: string[] = [];
  const spec = readSpec(policy.spec, (one) => problems.push(one));
  try {
    if (spec === undefined) {
      const { subject } = Object(policy.spec) as { subject?: unknown };
      const readable = readSubject(subject, () => undefined);
      return closedClusterPolicies.value({ name }, reasonsText(problems), { subject: readable });
    }
    return clusterNetworkPolicyModel.canonical({
      name,
      ...spec,
      unreadable: reasonsText(problems),
    });
  } catch (thrown) {
    // such as text that is no Unicode
    if (!(thrown instanceof InvalidModelError)) throw thrown;
    return closedClusterPolicies.value({ name }, thrown.message);
  }
}

/** The parts of the policy that are closed. */
export function clusterPolicyRemarks({ spec }: KubeClusterNetworkPolicy): string[] {
  const problems: string[] = [];
  readSpec(spec, (one) => problems.push(one));
  return problems;
}

function reasonsText(problems: readonly string[]): string {
  return unreadableReason(unreadableLabel(problems)) ?? '';
}

function readSpec(
  input: unknown = {},
  report: Report,
): DeepInput<ClusterNetworkPolicy> | undefined {
  const spec = parts.spec.read(input, 'spec', report);
  if (spec === undefined) return undefined;
  const subject = readSubject(spec.subject, report);
  const close = (rule: Rule): Rule => (subject === undefined ? closed(rule) : rule);
  return {
    tier: spec.tier === 'Admin' ? 'ADMIN' : 'BASELINE',
    priority: spec.priority,
    ...(subject && { subject }),
    ingress: readRules('ingress', spec.ingress, report).map(close),
    egress: readRules('egress', spec.egress, report).map(close),
  };
}

function readSubject(input: unknown = {}, report: Report): Subject | undefined {
  const subject = parts.subject.read(input, 'spec.subject', report);
  return subject && podsValue(subject);
}

function readRules(direction: Direction, input: unknown = [], report: Report): Rule[] {
  const at = `spec.${direction}`;
  const rules = parts.rules.read(input, at, report);
  if (rules === undefined) return [closedClusterRule];
  return rules.map((rule, position) => readRule(direction, rule, `${at}[${position}]`, report));
}

function readRule(direction: Direction, input: unknown, at: string, report: Report): Rule {
  const rule: RuleParts | undefined = parts[direction].read(input, at, report);
  if (rule === undefined) return { ...closedClusterRule, action: readAction(input) };
  const field = direction === 'ingress' ? 'from' : 'to';
  const { name, action, [field]: peers = [], protocols = [] } = rule;
  const peer = peers.flatMap((one, position) => {
    const reader = direction === 'ingress' ? parts.ingressPeer : parts.egressPeer;
    const read = reader.read(one, `${at}.${field}[${position}]`, report);
    return read === undefined ? [] : [peerValue(read)];
  });
  const port = protocols.flatMap((one, position) => {
    const read = parts.protocol.read(one, `${at}.protocols[${position}]`, report);
    return read === undefined ? [] : [portValue(read)];
  });
  const value: Rule = { name, action: actions[action], peer, port };
  const hasNames = port.some(({ name: named }) => named !== undefined);
  if (hasNames && peer.some(({ pods }) => pods === undefined)) {
    report(`${at} has destinationNamedPort, and peers that have no named ports`);
    return closed(value);
  }
  const isWhole = peer.length === peers.length && port.length === protocols.length;
  return isWhole ? value : closed(value);
}

interface RuleParts {
  readonly name?: string;
  readonly action: keyof typeof actions;
  readonly protocols?: unknown[];
  readonly from?: unknown[];
  readonly to?: unknown[];
}

function closed({ name, action }: Rule): Rule {
  return { name, action, closed: true };
}

let actionValidator: Validator | undefined;

function readAction(rule: unknown): ClusterNetworkPolicyRule['action'] {
  const { action } = Object(rule) as { action?: unknown };
  actionValidator ??= Compile(ClusterAction);
  return actionValidator.Check(action) ? actions[action as keyof typeof actions] : 'DENY';
}

function podsValue({ namespaces, pods }: ClusterSubject): Subject {
  return {
    namespaces: selectorValue(namespaces ?? pods?.namespaceSelector ?? {}),
    pods: selectorValue(pods?.podSelector ?? {}),
  };
}

function peerValue(peer: ClusterEgressPeer): DeepInput<ClusterNetworkPolicyPeer> {
  if (peer.nodes !== undefined) return { nodes: selectorValue(peer.nodes) };
  if (peer.networks !== undefined) return { networks: { cidr: peer.networks } };
  return { pods: podsValue(peer) };
}

function portValue(protocol: ClusterProtocol): DeepInput<ClusterNetworkPolicyPort> {
  const { tcp, udp, sctp, destinationNamedPort: name } = protocol;
  if (name !== undefined) return { name };
  const { number, range } = (tcp ?? udp ?? sctp)?.destinationPort ?? {};
  const first = number ?? range?.start;
  const last = number ?? range?.end;
  return { protocol: tcp ? 'TCP' : udp ? 'UDP' : 'SCTP', first, last };
}
