/** Why a part of a NetworkPolicy cannot be used, beyond the types of its fields: the rules of Kubernetes. */
import { type Cidr, contains, parseKubernetesCidr } from '#models/ip.ts';
import type { KubePolicyPeer, KubePolicyPort, LabelSelector } from './policy.ts';

export function portFault({ port, endPort }: KubePolicyPort): string | undefined {
  if (typeof port === 'string' && !/[a-z]/i.test(port))
    return `names the port "${port}": a name has at least one letter, a number has no quotes`;
  if (endPort === undefined) return undefined;
  if (typeof port !== 'number') return 'has endPort without a numeric port';
  if (endPort < port) return `has endPort ${endPort} below port ${port}`;
  return undefined;
}

export function peerFault({
  podSelector,
  namespaceSelector,
  ipBlock,
}: KubePolicyPeer): string | undefined {
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock !== undefined)
    return selects ? 'has ipBlock together with a selector' : ipBlockFault(ipBlock);
  if (!selects) return 'has none of podSelector, namespaceSelector and ipBlock';
  return (
    prefixed('podSelector: ', podSelector && selectorFault(podSelector)) ??
    prefixed('namespaceSelector: ', namespaceSelector && selectorFault(namespaceSelector))
  );
}

export function selectorFault({ matchExpressions }: LabelSelector): string | undefined {
  for (const [position, { operator, values }] of (matchExpressions ?? []).entries()) {
    const some = (values ?? []).length > 0;
    const required = operator === 'In' || operator === 'NotIn';
    if (some === required) continue;
    const what = required ? 'must have values' : 'must have no values';
    return `matchExpressions[${position}] with operator ${operator} ${what}`;
  }
  return undefined;
}

function ipBlockFault(ipBlock: NonNullable<KubePolicyPeer['ipBlock']>): string | undefined {
  const block = parseKubernetesCidr(ipBlock.cidr);
  if (block === undefined) return `has the ipBlock.cidr "${ipBlock.cidr}", must be a CIDR`;
  for (const [position, text] of (ipBlock.except ?? []).entries()) {
    const except = parseKubernetesCidr(text);
    const field = `has the ipBlock.except[${position}] "${text}"`;
    if (except === undefined) return `${field}, must be a CIDR`;
    if (!within(except, block)) return `${field}, must lie within ${ipBlock.cidr}`;
  }
  return undefined;
}

function within(inner: Cidr, outer: Cidr): boolean {
  return inner.length > outer.length && contains(outer, inner.address);
}

function prefixed(prefix: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : prefix + text;
}
