/**
 * A NetworkPolicy as a record. It is read part by part: what cannot be read permits nothing, see closed-policy.ts, and
 * what cannot be read of the selector or the directions makes the policy isolate more. So no policy that the API server
 * accepts is without a record, and none is more open than its object.
 */
import { type DeepInput, InvalidModelError } from '#models/model.ts';
import {
  closedPolicies,
  closedRule,
  noPeer,
  UNREADABLE_LABEL,
  unreadableLabel,
} from '../models/closed-policy.ts';
import {
  type Policy,
  type PolicyLabelSelector,
  type PolicyPeer,
  type PolicyPort,
  policyModel,
} from '../models/policy.ts';
import { labelList } from './labels.ts';
import { namespaceOf } from './objects/meta.ts';
import { PartReader } from './objects/part-reader.ts';
import {
  KubeEgressRule,
  KubeIngressRule,
  type KubePolicy,
  KubePolicyPeer,
  KubePolicyPort,
  KubePolicyRules,
  KubePolicySpec,
  KubePolicyTypes,
  LabelSelector,
} from './objects/policy.ts';
import { peerFault, portFault, selectorFault } from './objects/policy-part.ts';

const operators = {
  In: 'IN',
  NotIn: 'NOT_IN',
  Exists: 'EXISTS',
  DoesNotExist: 'DOES_NOT_EXIST',
} as const;

const parts = {
  spec: new PartReader(KubePolicySpec),
  selector: new PartReader(LabelSelector, selectorFault),
  types: new PartReader(KubePolicyTypes),
  rules: new PartReader(KubePolicyRules),
  ingress: new PartReader(KubeIngressRule),
  egress: new PartReader(KubeEgressRule),
  peer: new PartReader(KubePolicyPeer, peerFault),
  port: new PartReader(KubePolicyPort, portFault),
};

type Report = (problem: string) => void;
type PolicyType = Policy['policy_type'];
/** With its peers in the field of its direction. */
interface Rule {
  readonly port: readonly DeepInput<PolicyPort>[];
  readonly from: readonly DeepInput<PolicyPeer>[];
  readonly to: readonly DeepInput<PolicyPeer>[];
}

export function policyValue(policy: KubePolicy): Policy {
  const { metadata } = policy;
  const names = { name: metadata.name, namespace: namespaceOf(policy) };
  const problems: string[] = [];
  const { pods, types, ingress, egress } = readSpec(policy.spec, (one) => problems.push(one));
  try {
    return policyModel.canonical({
      ...names,
      label: [
        ...labelList(metadata.labels).filter(({ key }) => key !== UNREADABLE_LABEL),
        ...unreadableLabel(problems),
      ],
      pods,
      policy_type: types,
      ingress_rule: ingress.map(({ port, from }) => ({ port, from })),
      egress_rule: egress.map(({ port, to }) => ({ port, to })),
    });
  } catch (thrown) {
    // such as text that is no Unicode
    if (!(thrown instanceof InvalidModelError)) throw thrown;
    return closedPolicies.value(names, thrown.message);
  }
}

/** The parts of the policy that permit nothing, because they cannot be read. */
export function policyRemarks({ spec }: KubePolicy): string[] {
  const problems: string[] = [];
  readSpec(spec, (one) => problems.push(one));
  return problems;
}

interface ReadSpec {
  readonly pods: DeepInput<PolicyLabelSelector>;
  readonly types: PolicyType;
  readonly ingress: readonly Rule[];
  readonly egress: readonly Rule[];
}

/** A policy without a specification isolates all pods from what comes in. */
function readSpec(input: unknown = {}, report: Report): ReadSpec {
  const spec = parts.spec.read(input, 'spec', report);
  if (spec === undefined) {
    const { podSelector } = Object(input) as { podSelector?: unknown };
    const pods = readSelector(podSelector, report) ?? {};
    return { pods, types: 'INGRESS_AND_EGRESS', ingress: [], egress: [] };
  }
  const pods = readSelector(spec.podSelector, report);
  const close = (rule: Rule): Rule => (pods === undefined ? closedRule : rule);
  const ingress = readRules('ingress', spec.ingress, report).map(close);
  const egress = readRules('egress', spec.egress, report).map(close);
  const types = readTypes(spec.policyTypes, report);
  return { pods: pods ?? {}, types, ingress, egress };
}

function readSelector(
  input: unknown = {},
  report: Report,
): DeepInput<PolicyLabelSelector> | undefined {
  const selector = parts.selector.read(input, 'spec.podSelector', report);
  return selector && selectorValue(selector);
}

function readTypes(input: unknown = [], report: Report): PolicyType {
  const types = parts.types.read(input, 'spec.policyTypes', report);
  if (types === undefined) return 'INGRESS_AND_EGRESS';
  const egress = types.includes('Egress');
  if (types.includes('Ingress')) return egress ? 'INGRESS_AND_EGRESS' : 'INGRESS';
  return egress ? 'EGRESS' : 'DEFAULT';
}

function readRules(direction: 'ingress' | 'egress', input: unknown = [], report: Report): Rule[] {
  const at = `spec.${direction}`;
  const rules = parts.rules.read(input, at, report);
  if (rules === undefined) return [closedRule];
  return rules.map((rule, position) => readRule(direction, rule, `${at}[${position}]`, report));
}

/** Ports that cannot be read are left out, unless all of them are: a rule without ports permits all. */
function readRule(
  direction: 'ingress' | 'egress',
  input: unknown,
  at: string,
  report: Report,
): Rule {
  const rule: { ports?: unknown[]; from?: unknown[]; to?: unknown[] } | undefined = parts[
    direction
  ].read(input, at, report);
  if (rule === undefined) return closedRule;
  const field = direction === 'ingress' ? 'from' : 'to';
  const { ports = [], [field]: peers = [] } = rule;
  const port = ports.flatMap((one, position) => {
    const read = parts.port.read(one, `${at}.ports[${position}]`, report);
    return read === undefined ? [] : [portValue(read)];
  });
  const peer = peers.map((one, position) => {
    const read = parts.peer.read(one, `${at}.${field}[${position}]`, report);
    return read === undefined ? noPeer : peerValue(read);
  });
  if (port.length === 0 && ports.length > 0) return closedRule;
  return { port, from: peer, to: peer };
}

export function selectorValue(selector: LabelSelector): DeepInput<PolicyLabelSelector> {
  return {
    match_label: labelList(selector.matchLabels),
    match_expression: selector.matchExpressions?.map(({ key, operator, values }) => ({
      key,
      operator: operators[operator],
      value: values,
    })),
  };
}

function portValue({ protocol, port, endPort }: KubePolicyPort): DeepInput<PolicyPort> {
  const range = endPort !== undefined && endPort !== port;
  return {
    protocol,
    port: port === undefined ? undefined : portReference(port),
    end_port: range ? endPort : undefined,
  };
}

function portReference(port: string | number): NonNullable<DeepInput<PolicyPort>['port']> {
  return typeof port === 'string' ? { type: 'NAME', name: port } : { number: port };
}

function peerValue(peer: KubePolicyPeer): DeepInput<PolicyPeer> {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  if (ipBlock !== undefined) return { ip_block: ipBlock };
  if (namespaceSelector === undefined) return { pods: selectorValue(podSelector ?? {}) };
  const namespaces = selectorValue(namespaceSelector);
  if (podSelector === undefined || selectsAll(podSelector)) return { namespaces };
  return { pods_in_namespaces: { pods: selectorValue(podSelector), namespaces } };
}

function selectsAll({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length + (matchExpressions ?? []).length === 0;
}
