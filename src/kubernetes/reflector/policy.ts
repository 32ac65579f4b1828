import type { DeepInput } from '#models/model.ts';
import {
  type Policy,
  type PolicyLabelSelector,
  type PolicyPeer,
  type PolicyPort,
  policyModel,
} from '../models/policy.ts';
import { labelList } from './labels.ts';
import { namespaceOf } from './objects/meta.ts';
import type {
  KubePolicy,
  KubePolicyPeer,
  KubePolicyPort,
  LabelSelector,
} from './objects/policy.ts';

const operators = {
  In: 'IN',
  NotIn: 'NOT_IN',
  Exists: 'EXISTS',
  DoesNotExist: 'DOES_NOT_EXIST',
} as const;

export function policyValue(policy: KubePolicy): Policy {
  const { metadata, spec } = policy;
  return policyModel.canonical({
    name: metadata.name,
    namespace: namespaceOf(policy),
    label: labelList(metadata.labels),
    pods: selectorValue(spec.podSelector ?? {}),
    policy_type: policyType(spec.policyTypes ?? []),
    ingress_rule: spec.ingress?.map(({ ports, from }) => ({
      port: ports?.map(portValue),
      from: from?.map(peerValue),
    })),
    egress_rule: spec.egress?.map(({ ports, to }) => ({
      port: ports?.map(portValue),
      to: to?.map(peerValue),
    })),
  });
}

function policyType(types: readonly ('Ingress' | 'Egress')[]): Policy['policy_type'] {
  const ingress = types.includes('Ingress');
  const egress = types.includes('Egress');
  if (ingress && egress) return 'INGRESS_AND_EGRESS';
  if (ingress) return 'INGRESS';
  if (egress) return 'EGRESS';
  return 'DEFAULT';
}

function selectorValue(selector: LabelSelector): DeepInput<PolicyLabelSelector> {
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
