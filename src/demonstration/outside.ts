/** The world outside of the cluster: one machine on the network of the nodes, which is their gateway. */
import type { Device } from '#packet-trace/snapshot.ts';

/** In the subnet of the nodes, unless the configuration sets another subnet. */
export const GATEWAY = '192.168.16.254';

/** Of customers, and of a server in the internet: addresses for documentation. */
export const CUSTOMER = '198.51.100.7';
export const SERVER = '203.0.113.10';

const DEVICE = 'outside';
const NIC = 'eth0';

export const outside: Device = {
  name: DEVICE,
  forwards: false,
  interfaces: new Map([
    [
      NIC,
      {
        name: NIC,
        enabled: true,
        up: true,
        table: 0,
        mac: '',
        addresses: [`${GATEWAY}/24`],
        tunnel: undefined,
        isLoopback: false,
        key: '',
      },
    ],
  ]),
  routes: [],
  neighbors: [],
  routesToNeighbors: false,
  bridges: [],
  otherAddresses: [CUSTOMER, SERVER],
  hasOtherRoutes: false,
};
