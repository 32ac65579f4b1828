/**
 * The semantics of network policies in Kubernetes, in plain words and without a thought of speed: the
 * measure for processor, renderer and data plane. It shares no code with them and works on the records.
 */
import type { Pod } from '#kubernetes/models/pod.ts';
import type {
  Policy,
  PolicyLabelSelector,
  PolicyPeer,
  PolicyPort,
} from '#kubernetes/models/policy.ts';
import type { PolicyDirection } from '#plugins/policy/pod-policy.ts';
import type { AttachedPod } from '#plugins/policy/processor/policy-processor.ts';
import { deciderOfTier } from './cluster-reference.ts';
import type { Cluster } from './policy-objects.ts';

type Protocol = 'TCP' | 'UDP' | 'SCTP';
type Labels = readonly { readonly key: string; readonly value: string }[];

/** A destination. */
export interface Target {
  readonly address: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/**
 * Whether the policies of the pods that are attached to this node let a connection pass. The rights of
 * the node itself are not considered: it always reaches its pods, and they reach it.
 * @param source address
 */
export function isPermitted(cluster: Cluster, source: string, target: Target): boolean {
  const senders = attachedAt(cluster, source);
  const receivers = attachedAt(cluster, target.address);
  if (senders.some((a) => receivers.some((b) => a.pod === b.pod))) return true;
  return (
    senders.every((one) => permits(cluster, 'egress', one, target.address, target)) &&
    receivers.every((one) => permits(cluster, 'ingress', one, source, target))
  );
}

/** Whether the policies of one pod of this node permit it one direction of a connection. */
export function permits(
  cluster: Cluster,
  direction: PolicyDirection,
  own: AttachedPod,
  other: string,
  target: Pick<Target, 'protocol' | 'port'>,
): boolean {
  const ofAdmin = deciderOfTier(cluster, 'ADMIN', direction, own, other, target);
  if (ofAdmin !== undefined) return ofAdmin.action === 'ACCEPT';
  const ofNamespace = networkPoliciesPermit(cluster, direction, own, other, target);
  if (ofNamespace !== undefined) return ofNamespace;
  return deciderOfTier(cluster, 'BASELINE', direction, own, other, target)?.action !== 'DENY';
}

/** Those that apply to a pod in one direction. */
export function isolatingPolicies(
  cluster: Cluster,
  direction: PolicyDirection,
  own: AttachedPod,
): Policy[] {
  const namespace = own.pod.split('/')[0];
  const record = recordOf(cluster, own);
  return cluster.policies.filter(
    (one) =>
      one.namespace === namespace &&
      isolates(one, direction) &&
      (record === undefined || selectsSubject(one, record)),
  );
}

/** undefined: none isolates the pod. */
function networkPoliciesPermit(
  cluster: Cluster,
  direction: PolicyDirection,
  own: AttachedPod,
  other: string,
  target: Pick<Target, 'protocol' | 'port'>,
): boolean | undefined {
  const record = recordOf(cluster, own);
  const policies = isolatingPolicies(cluster, direction, own);
  if (policies.length === 0) return undefined;
  if (record === undefined) return false;
  return policies.some((policy) => {
    if (policy.pods !== undefined && !isValid(policy.pods)) return false;
    const rules =
      direction === 'ingress'
        ? policy.ingress_rule.map(({ from, port }) => ({ peers: from, ports: port }))
        : policy.egress_rule.map(({ to, port }) => ({ peers: to, ports: port }));
    return rules.some(({ peers, ports }) => {
      // the form of a peer decides whether its pods can be asked for their ports
      const matching = peers.filter((peer) => isPeer(cluster, policy.namespace, peer, other));
      if (peers.length > 0 && matching.length === 0) return false;
      if (ports.length === 0) return true;
      const byPods = peers.length === 0 || matching.some((peer) => peer.ip_block === undefined);
      const receivers = direction === 'ingress' ? [record] : byPods ? podsAt(cluster, other) : [];
      return ports.some((port) => isPort(port, receivers, target));
    });
  });
}

function attachedAt(cluster: Cluster, address: string): AttachedPod[] {
  return [...cluster.attachments.values()].filter((one) => one.addresses.includes(address));
}

export function recordOf(cluster: Cluster, { pod, podUid }: AttachedPod): Pod | undefined {
  const record = cluster.pods.find((one) => `${one.namespace}/${one.name}` === pod);
  return record && podUid && record.uid && record.uid !== podUid ? undefined : record;
}

/** undefined: a pod of this node whose labels are unknown. Pods in the network of a host are selected by none. */
export function podsAt(cluster: Cluster, address: string): (Pod | undefined)[] {
  const attached = attachedAt(cluster, address);
  if (attached.length > 0) return attached.map((one) => recordOf(cluster, one));
  const found = cluster.pods.filter(
    (one) => one.ip_address === address || one.ip_addresses.includes(address),
  );
  const isHost = (one: Pod) => one.ip_address !== '' && one.ip_address === one.host_ip_address;
  return found.some(isHost) ? [] : found;
}

function isolates({ policy_type: type, egress_rule: egress }: Policy, direction: PolicyDirection) {
  if (type === 'DEFAULT') return direction === 'ingress' || egress.length > 0;
  return type === 'INGRESS_AND_EGRESS' || type.toLowerCase() === direction;
}

function selectsSubject({ namespace, pods }: Policy, pod: Pod): boolean {
  if (pod.namespace !== namespace) return false;
  return pods === undefined || !isValid(pods) || matches(pods, pod.label);
}

function isPeer(cluster: Cluster, own: string, peer: PolicyPeer, address: string): boolean {
  const { pods, namespaces, ip_block: block, pods_in_namespaces: both } = peer;
  if ([pods, namespaces, block, both].filter((one) => one !== undefined).length !== 1) return false;
  if (block !== undefined) {
    const isIn = isInCidr(address, block.cidr);
    const excepted = block.except.map((one) => isInCidr(address, one));
    return isIn === true && excepted.every((one) => one === false);
  }
  const found = podsAt(cluster, address);
  if (found.length === 0) return false;
  return found.every((pod) => {
    if (pod === undefined) return false;
    const isSpace = (selector: PolicyLabelSelector | undefined): boolean =>
      selectsNamespace(cluster, selector, pod.namespace) === true;
    if (pods !== undefined) return pod.namespace === own && selects(pods, pod.label);
    if (namespaces !== undefined) return isSpace(namespaces);
    return selects(both?.pods, pod.label) && isSpace(both?.namespaces);
  });
}

/** Of a namespace without a record the name alone is known. */
export function selectsNamespace(
  cluster: Cluster,
  selector: PolicyLabelSelector | undefined,
  name: string,
): boolean | 'unknown' {
  const { match_label: labels = [], match_expression: expressions = [] } = selector ?? {};
  const isByName = [...labels, ...expressions].every(
    ({ key }) => key === 'kubernetes.io/metadata.name',
  );
  if (!isByName && cluster.namespaces.every((one) => one.name !== name))
    return selector !== undefined && isValid(selector) ? 'unknown' : false;
  return selects(selector, namespaceLabels(cluster, name));
}

function namespaceLabels(cluster: Cluster, name: string): Labels {
  const record = cluster.namespaces.find((one) => one.name === name);
  const others = (record?.label ?? []).filter(({ key }) => key !== 'kubernetes.io/metadata.name');
  return [...others, { key: 'kubernetes.io/metadata.name', value: name }];
}

export function isValid({ match_expression: expressions }: PolicyLabelSelector): boolean {
  return expressions.every(({ key, operator, value }) => {
    const needsValues = operator === 'IN' || operator === 'NOT_IN';
    return key !== '' && needsValues === value.length > 0;
  });
}

export function selects(selector: PolicyLabelSelector | undefined, labels: Labels): boolean {
  return selector !== undefined && isValid(selector) && matches(selector, labels);
}

function matches(selector: PolicyLabelSelector, labels: Labels): boolean {
  const labelOf = (key: string) => labels.find((one) => one.key === key)?.value;
  return (
    selector.match_label.every(({ key, value }) => labelOf(key) === value) &&
    selector.match_expression.every(({ key, operator, value: values }) => {
      const value = labelOf(key);
      if (operator === 'EXISTS') return value !== undefined;
      if (operator === 'DOES_NOT_EXIST') return value === undefined;
      const isOne = value !== undefined && values.includes(value);
      return operator === 'IN' ? isOne : !isOne;
    })
  );
}

function isPort(
  { protocol, port, end_port: end }: PolicyPort,
  receivers: readonly (Pod | undefined)[],
  target: Pick<Target, 'protocol' | 'port'>,
): boolean {
  if (protocol !== target.protocol) return false;
  if (port === undefined) return end === 0;
  if (port.type === 'NAME') {
    if (port.name === '' || end !== 0 || receivers.length === 0) return false;
    return receivers.every((pod) => {
      const all = pod?.container.flatMap((one) => one.port) ?? [];
      const found = all.find((one) => one.name === port.name && one.protocol === protocol);
      return found?.container_port === target.port;
    });
  }
  const last = end === 0 ? port.number : end;
  const isValidRange = port.number >= 1 && last <= 65_535;
  return isValidRange && port.number <= target.port && target.port <= last;
}

/** undefined: the text is not a CIDR. */
export function isInCidr(address: string, cidr: string): boolean | undefined {
  const [, base = '', length = ''] = /^([^/]*)\/(\d+)$/.exec(cidr) ?? [];
  const bits = bitsOf(base);
  if (bits === undefined || `${Number(length)}` !== length || Number(length) > bits.length)
    return undefined;
  const other = bitsOf(address);
  if (other?.length !== bits.length) return false;
  return other.slice(0, Number(length)) === bits.slice(0, Number(length));
}

/** An address as 32 or 128 digits. */
function bitsOf(address: string): string | undefined {
  if (/^(\d+\.){3}\d+$/.test(address)) {
    const bytes = address.split('.');
    if (bytes.some((one) => Number(one) > 255 || `${Number(one)}` !== one)) return undefined;
    return bytes.map((one) => Number(one).toString(2).padStart(8, '0')).join('');
  }
  const [head = '', tail, more] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros =
    tail === undefined ? [] : Array(Math.max(1, 8 - before.length - after.length)).fill('0');
  const all = [...before, ...zeros, ...after];
  if (more !== undefined || all.length !== 8) return undefined;
  if (!all.every((one) => /^[0-9a-f]{1,4}$/i.test(one))) return undefined;
  return all.map((one) => Number.parseInt(one, 16).toString(2).padStart(16, '0')).join('');
}
