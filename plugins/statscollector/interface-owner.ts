import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';

/** The pod of an interface; both are `--` for an interface of the node itself, as in the original. */
export interface InterfaceOwner {
  readonly podName: string;
  readonly podNamespace: string;
}

export const nodeOwner: InterfaceOwner = { podName: '--', podNamespace: '--' };

/** Names of the interfaces that the original counts as those of the node. */
const nodePrefixes = [
  'afpacket-vpp2',
  'vpp2',
  'tap-vpp2',
  'vxlanBVI',
  'loopbackNIC',
  'GigabitEthernet',
];

export type OwnersOfInterfaces = Pick<
  Ipv4NetApi,
  'podByInterface' | 'mainInterface' | 'otherInterfaces'
>;

/** @returns undefined for an interface whose figures are not shown */
export function interfaceOwner(
  logicalName: string,
  net: OwnersOfInterfaces,
): InterfaceOwner | undefined {
  const pod = net.podByInterface(logicalName)?.pod;
  if (pod) return { podName: pod.name, podNamespace: pod.namespace };
  const isOfNode =
    nodePrefixes.some((prefix) => logicalName.startsWith(prefix)) ||
    // NICs of other drivers, which the original leaves out
    logicalName === net.mainInterface() ||
    net.otherInterfaces().includes(logicalName);
  return isOfNode ? nodeOwner : undefined;
}
