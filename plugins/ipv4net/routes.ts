/** REST routes about addresses, which need the node address of ipv4net. */
import { Allocations, IpamDocument } from '#documents/ipam.ts';
import { json, type Route } from '#infra/http/route.ts';
import {
  allocationsDocument,
  type FamilyPlan,
  type IpamApi,
  ipamDocument,
  NO_NODE_IP,
} from '#plugins/ipam/api.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import type { Ipv4NetApi } from './api.ts';

export interface IpamRoutesDeps {
  readonly nodes: Pick<NodeSyncApi, 'thisNode'>;
  readonly ipam: Pick<IpamApi, 'allocations' | 'family' | 'families' | 'settings'>;
  readonly net: Pick<Ipv4NetApi, 'nodeAddresses' | 'wiredKeys'>;
}

export function ipamRoutes({ nodes, ipam, net }: IpamRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/contiv/v1/ipam',
      mutating: false,
      summary: 'ID, address and subnets of this node',
      reply: IpamDocument,
      handle() {
        const addresses = net.nodeAddresses();
        if (addresses.length === 0) return json(NO_NODE_IP, 500);
        const { id, name } = nodes.thisNode();
        const [primary, ...others] = ipam.families();
        const isEncrypted = net.wiredKeys() !== undefined;
        const of = (plan: FamilyPlan) => networkOf(plan, isEncrypted ? id : undefined);
        const networks = [of(primary), ...others.map(of)] as const;
        return json(ipamDocument(ipam.settings(), { id, name, addresses, networks }));
      },
    },
    {
      method: 'GET',
      path: '/contiv/v1/ipam/allocations',
      mutating: false,
      summary: 'addresses of the pods of this node',
      reply: Allocations,
      handle: () => json(allocationsDocument(ipam.allocations().values(), ipam.family)),
    },
  ];
}

/** @param id of this node, if it encrypts: other nodes route to its overlay address, which no interface has */
function networkOf(plan: FamilyPlan, id: number | undefined) {
  return {
    family: plan.family,
    podSubnet: plan.podSubnetThisNode(),
    vppHostSubnet: plan.hostInterconnectSubnetThisNode(),
    ...(id !== undefined && { overlayAddress: plan.vxlanAddress(id).split('/')[0]! }),
  };
}
