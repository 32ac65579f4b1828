/** Purpose and owner of an interface of this node, also of one that `/stats` leaves out. */
import type { InterfaceRole } from '#documents/interfaces.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';

export type RolesOfInterfaces = Pick<
  Ipv4NetApi,
  'podByInterface' | 'nodeByTunnel' | 'mainInterface' | 'otherInterfaces' | 'hostInterconnect'
>;

/** @param logicalName of a configured interface: there are none before the first resync */
export function interfaceRole(logicalName: string, net: RolesOfInterfaces): InterfaceRole {
  const pod = net.podByInterface(logicalName)?.pod;
  if (pod) return { kind: 'pod', pod: pod.name === '' ? '' : `${pod.namespace}/${pod.name}` };
  const node = net.nodeByTunnel(logicalName);
  if (node !== undefined) return { kind: 'tunnel', node };
  if (logicalName === net.mainInterface() || net.otherInterfaces().includes(logicalName))
    return { kind: 'uplink' };
  return { kind: logicalName === net.hostInterconnect() ? 'hostLink' : 'internal' };
}
