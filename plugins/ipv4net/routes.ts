/** REST routes about addresses, which need the node address of ipv4net. */
import { Allocations, IpamDocument } from '#documents/ipam.ts';
import { json, type Route } from '#infra/http/route.ts';
import { allocationsDocument, type IpamApi, ipamDocument, NO_NODE_IP } from '#plugins/ipam/api.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import type { Ipv4NetApi } from './api.ts';

export interface IpamRoutesDeps {
  readonly nodes: Pick<NodeSyncApi, 'thisNode'>;
  readonly ipam: Pick<
    IpamApi,
    'allocations' | 'podSubnetThisNode' | 'hostInterconnectSubnetThisNode' | 'settings'
  >;
  readonly net: Pick<Ipv4NetApi, 'nodeAddress'>;
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
        const address = net.nodeAddress();
        if (address === undefined) return json(NO_NODE_IP, 500);
        const { id, name } = nodes.thisNode();
        const podSubnet = ipam.podSubnetThisNode();
        const vppHostSubnet = ipam.hostInterconnectSubnetThisNode();
        return json(ipamDocument(ipam.settings(), { id, name, address, podSubnet, vppHostSubnet }));
      },
    },
    {
      method: 'GET',
      path: '/contiv/v1/ipam/allocations',
      mutating: false,
      summary: 'addresses of the pods of this node',
      reply: Allocations,
      handle: () => json(allocationsDocument(ipam.allocations().values())),
    },
  ];
}
