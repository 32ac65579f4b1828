/** Prefix lengths of the subnets of one node, by family. */
import type { IpFamily } from '#models/ip.ts';
import type { IpamConfig } from './settings.ts';

/** Without a key: that of pods is the default of Kubernetes. */
export const defaultPrefixLength: Readonly<Record<IpFamily, number>> = { 4: 24, 6: 64 };

export type DividedSubnet = 'podSubnet' | 'vppHostSubnet';

type LengthKey = `${DividedSubnet}OneNodePrefixLen${'' | 'IPv4' | 'IPv6'}`;

/** @param isPrimary whether the family is the first one of the pods */
export function nodePrefixLength(
  config: IpamConfig,
  subnet: DividedSubnet,
  family: IpFamily,
  isPrimary: boolean,
): { readonly length: number; readonly key: LengthKey } {
  const ofFamily: LengthKey = `${subnet}OneNodePrefixLenIPv${family}`;
  const given = config[`${subnet}OneNodePrefixLenIpv${family}`];
  if (given !== 0) return { length: given, key: ofFamily };
  return isPrimary
    ? { length: config[`${subnet}OneNodePrefixLen`], key: `${subnet}OneNodePrefixLen` }
    : { length: defaultPrefixLength[family], key: ofFamily };
}
