/**
 * Node ports of other nodes with `externalTrafficPolicy: Local`: each node has backends of its own there. A socket of
 * this node goes to them directly, with its own address, as the packet would that the other node translates.
 */
import { familyOfAddress } from '#plugins/ipam/api.ts';
import type { OtherNodePort, ServiceAddress } from '../rendered-service.ts';
import type { BackendOrder } from './backend-order.ts';
import { type EndpointList, portKey } from './endpoint-list.ts';
import { usedOnNode } from './endpoint-selection.ts';
import type { NodeView } from './local-node.ts';

/**
 * @param addresses of the service on this node
 * @returns those of nodes that have a backend: the others refuse their clients themselves
 */
export function otherNodePorts(
  addresses: readonly ServiceAddress[],
  { byPort }: EndpointList,
  node: NodeView,
  orderBackends: BackendOrder,
): OtherNodePort[] {
  const nodePorts = addresses.filter(({ kind }) => kind === 'node-port');
  const ports = new Map(
    nodePorts.map((one) => [
      `${familyOfAddress(one.address)} ${one.protocol} ${one.port}`,
      { ...one, family: familyOfAddress(one.address) },
    ]),
  );
  return [...ports.values()].flatMap(({ family, portName, port, protocol, affinityTimeout }) => {
    const endpoints = byPort.get(portKey(family, portName, protocol)) ?? [];
    const others = endpoints.filter(({ isLocal }) => !isLocal);
    return [...Map.groupBy(others, ({ nodeName }) => nodeName)].flatMap(([name, own]) => {
      const backends = orderBackends(usedOnNode(own)).map(({ address, port, nodeName, place }) => {
        return { address, port, nodeName, isLocal: false, place };
      });
      if (backends.length === 0) return [];
      return node.otherNodes
        .nodePortAddressesOf(name)
        .filter((address) => familyOfAddress(address) === family)
        .map((address): OtherNodePort => ({ address, port, protocol, affinityTimeout, backends }));
    });
  });
}
