/** Purpose and owner of an interface of this node, also of one that `/stats` leaves out. */
import { type Static, Type } from 'typebox';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';

export const roleKinds = ['pod', 'tunnel', 'uplink', 'hostLink', 'internal'] as const;

export const interfaceRoleSchema = Type.Object({
  kind: Type.Enum(roleKinds, {
    description:
      'tunnel: to another node; uplink: a NIC; hostLink: between VPP and the host; internal: such as the BVI of the overlay.',
  }),
  pod: Type.Optional(Type.String({ description: 'Of a pod: namespace/name.' })),
  node: Type.Optional(Type.String({ description: 'Of a tunnel: the other node.' })),
});

export type InterfaceRole = Static<typeof interfaceRoleSchema>;

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
