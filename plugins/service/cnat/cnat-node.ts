/** cnat of this node, which translates addresses of IPv6 for clients outside. */
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import { CNAT_TABLE, type Ipv4NetApi } from '#plugins/ipv4net/api.ts';

export interface CnatNode {
  readonly podVrf: number;
  /** Source of clients whose address must be replaced. */
  readonly natLoopback: string;
  /** Addresses of VPP, without prefix length. */
  readonly vppAddresses: ReadonlySet<string>;
  /** Addresses of the host, without prefix length: clients do not reach VPP by them. */
  readonly hostAddresses: ReadonlySet<string>;
  /** Whether what leaves the pods for the networks outside passes it anyway, for source NAT. */
  readonly translatesSources: boolean;
}

interface CnatNodeDeps {
  readonly conf: Pick<ContivConfApi, 'routing' | 'otherInterfaces'>;
  readonly ipam: Pick<IpamApi, 'families'>;
  readonly net: Pick<Ipv4NetApi, 'nodeAddresses' | 'hostAddresses' | 'uplink'>;
}

/** @returns undefined: the pods have no addresses of IPv6, or the NICs are in a table in which cnat does not translate */
export function readCnatNode({ conf, ipam, net }: CnatNodeDeps): CnatNode | undefined {
  const plan = ipam.families().find(({ family }) => family === 6);
  const { mainVrf, podVrf } = conf.routing();
  if (plan === undefined || mainVrf !== CNAT_TABLE) return undefined;
  const ofNics = [
    ...net.nodeAddresses(),
    ...conf.otherInterfaces().flatMap(({ addresses }) => addresses),
  ];
  return {
    podVrf,
    natLoopback: plan.natLoopback(),
    vppAddresses: new Set(ofNics.map((cidr) => cidr.split('/', 1)[0]!)),
    hostAddresses: new Set(net.hostAddresses()),
    translatesSources: net.uplink(6)?.edgeLink !== undefined,
  };
}
