/** Text rules and list orders that are shared by several reflected models. */
import { formatCidr, formatIp, parseKubernetesCidr, parseKubernetesIp } from '#models/ip.ts';
import { type TextRule, type UnorderedRule, unordered } from '#models/rules.ts';

/**
 * The canonical spelling of an address; other text is kept. Kubernetes has validated the addresses,
 * fields such as `cluster_ip` may contain words, and one invalid entry must not invalidate all
 * endpoints of a service. Users of addresses ignore invalid ones.
 */
export const addressOrText: TextRule = (text) => {
  const bytes = parseKubernetesIp(text);
  return bytes === undefined ? text : formatIp(bytes);
};

/** The same of an address with its prefix length; host bits are kept. */
export const cidrOrText: TextRule = (text) => {
  const cidr = parseKubernetesCidr(text);
  return cidr === undefined ? text : formatCidr(cidr);
};

/** Go iterates over labels in random order. */
export const labels: UnorderedRule<{ readonly key: string }> = unordered(({ key }) => key);
