/** Text rules and orders that several of the reflected models share. */
import { formatIp, parseIp } from '#models/ip.ts';
import { type TextRule, type UnorderedRule, unordered } from '#models/rules.ts';

/**
 * The one spelling of an address; anything else stays as it is. Kubernetes has checked its addresses,
 * fields such as `cluster_ip` hold words too, and one odd entry must not cost a service all of its
 * endpoints: whoever uses an address passes over what is none.
 */
export const addressOrText: TextRule = (text) => {
  const bytes = parseIp(text);
  return bytes === undefined ? text : formatIp(bytes);
};

/** Go gives them out in any order. */
export const labels: UnorderedRule<{ readonly key: string }> = unordered(({ key }) => key);
