/** `loadBalancerSourceRanges` of a service: which clients may use the addresses of its load balancer. */
import {
  type Cidr,
  contains,
  formatCidr,
  type IpFamily,
  ipFamily,
  lastAddress,
  network,
  parseKubernetesCidr,
} from '#models/ip.ts';
import type { PermittedClients } from '../rendered-service.ts';
import type { NodeView } from './local-node.ts';

/** The clients of a family; absent: everyone may. */
export type PermittedByFamily = ReadonlyMap<IpFamily, PermittedClients>;

export interface SourceRanges {
  readonly clients: PermittedByFamily;
  /** Ranges that cannot be read. They permit no client: a service that has no other range is closed. */
  readonly problems: readonly string[];
}

export function sourceRanges(texts: readonly string[], node: NodeView): SourceRanges {
  const problems: string[] = [];
  const ranges: Cidr[] = [];
  for (const text of texts) {
    const range = parseKubernetesCidr(text.trim());
    if (range === undefined)
      problems.push(`"${text}" of loadBalancerSourceRanges is no network: it permits no client`);
    else ranges.push(network(range));
  }
  const clients = new Map<IpFamily, PermittedClients>();
  if (texts.length === 0) return { problems, clients };
  for (const family of node.families) {
    const own = ranges.filter(({ address }) => ipFamily(address) === family);
    if (own.some(({ length }) => length === 0)) continue;
    clients.set(family, {
      ranges: [...new Set(own.map(formatCidr))].sort(),
      pods: podsOf(own, node.ownPods(family)),
    });
  }
  return { problems, clients };
}

/** Two ranges that contain all pods only together count as a part. */
function podsOf(ranges: readonly Cidr[], pods: Cidr | undefined): PermittedClients['pods'] {
  if (pods === undefined) return 'none';
  const [first, last] = [network(pods).address, lastAddress(pods)];
  if (ranges.some((range) => contains(range, first) && contains(range, last))) return 'all';
  return ranges.some(({ address }) => contains(pods, address)) ? 'some' : 'none';
}
