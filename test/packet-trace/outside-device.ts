import type { Device } from '#packet-trace/snapshot.ts';

/**
 * A machine on the network of the nodes.
 * @param cidr its address, with prefix length
 * @param routes destination and gateway
 */
export function outsideDevice(
  cidr: string,
  routes: readonly (readonly [destination: string, gateway: string])[],
): Device {
  const key = '';
  const eth0 = { name: 'eth0', enabled: true, up: true, table: 0, mac: '', tunnel: undefined };
  return {
    name: 'outside',
    forwards: false,
    interfaces: new Map([['eth0', { ...eth0, addresses: [cidr], isLoopback: false, key }]]),
    routes: routes.map(([destination, nextHop]) => ({
      table: 0,
      destination,
      preference: 0,
      action: { kind: 'via', interface: 'eth0', nextHop },
      key,
    })),
    neighbors: [],
    routesToNeighbors: false,
    bridges: [],
    otherAddresses: [],
    hasOtherRoutes: false,
  };
}
