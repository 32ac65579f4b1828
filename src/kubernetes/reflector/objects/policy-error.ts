/**
 * Validation of NetworkPolicies beyond the types of their fields, as in Kubernetes. An invalid policy
 * is not enforced: guessing its meaning could allow or deny the wrong traffic.
 */
import { type Cidr, contains, parseCidr } from '#models/ip.ts';
import type { KubePolicy, KubePolicyPeer, KubePolicyPort, LabelSelector } from './policy.ts';

/** Path of the first invalid field and the reason; undefined if the policy is valid. */
export function policyError({ spec }: KubePolicy): string | undefined {
  const selector = selectorError('spec.podSelector', spec.podSelector);
  if (selector !== undefined) return selector;
  for (const [position, { ports, from }] of (spec.ingress ?? []).entries()) {
    const fault = ruleError(`spec.ingress[${position}]`, ports, 'from', from);
    if (fault !== undefined) return fault;
  }
  for (const [position, { ports, to }] of (spec.egress ?? []).entries()) {
    const fault = ruleError(`spec.egress[${position}]`, ports, 'to', to);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function ruleError(
  path: string,
  ports: readonly KubePolicyPort[] | undefined,
  peerField: 'from' | 'to',
  peers: readonly KubePolicyPeer[] | undefined,
): string | undefined {
  for (const [position, port] of (ports ?? []).entries()) {
    const fault = portError(port);
    if (fault !== undefined) return `${path}.ports[${position}] ${fault}`;
  }
  for (const [position, peer] of (peers ?? []).entries()) {
    const fault = peerError(`${path}.${peerField}[${position}]`, peer);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function portError({ port, endPort }: KubePolicyPort): string | undefined {
  if (typeof port === 'string' && !/[a-z]/i.test(port)) {
    return `names the port "${port}": a name has at least one letter, a number has no quotes`;
  }
  if (endPort === undefined) return undefined;
  if (typeof port !== 'number') return 'has endPort without a numeric port';
  if (endPort < port) return `has endPort ${endPort} below port ${port}`;
  return undefined;
}

function peerError(path: string, peer: KubePolicyPeer): string | undefined {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock === undefined) {
    if (!selects) return `${path} has none of podSelector, namespaceSelector and ipBlock`;
    return (
      selectorError(`${path}.podSelector`, podSelector) ??
      selectorError(`${path}.namespaceSelector`, namespaceSelector)
    );
  }
  if (selects) return `${path} has ipBlock together with a selector`;
  const block = parseCidr(ipBlock.cidr);
  if (block === undefined) return `${path}.ipBlock.cidr is "${ipBlock.cidr}", must be a CIDR`;
  for (const [position, text] of (ipBlock.except ?? []).entries()) {
    const except = parseCidr(text);
    const field = `${path}.ipBlock.except[${position}] is "${text}"`;
    if (except === undefined) return `${field}, must be a CIDR`;
    if (!within(except, block)) return `${field}, must lie within ${ipBlock.cidr}`;
  }
  return undefined;
}

function within(inner: Cidr, outer: Cidr): boolean {
  return inner.length > outer.length && contains(outer, inner.address);
}

function selectorError(path: string, selector: LabelSelector | undefined): string | undefined {
  for (const [position, { operator, values }] of (selector?.matchExpressions ?? []).entries()) {
    const some = (values ?? []).length > 0;
    const required = operator === 'In' || operator === 'NotIn';
    if (some === required) continue;
    const what = required ? 'must have values' : 'must have no values';
    return `${path}.matchExpressions[${position}] with operator ${operator} ${what}`;
  }
  return undefined;
}
