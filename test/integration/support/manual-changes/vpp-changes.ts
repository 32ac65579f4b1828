/** Changes of VPP past the agent. */

import { fibPath } from '#test/vpp/descriptors/messages.ts';
import { toAddress, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import type { Links } from '../agent.ts';
import type { ManualChange } from './manual-change.ts';
import { type ManualChangeTestbed, POD_TABLE, type VppNames } from './testbed.ts';

const OTHER_MAC = '02:00:00:00:00:99';
const DROP = 2;

const cli =
  (
    ...commands: ((names: VppNames, testbed: ManualChangeTestbed) => string)[]
  ): ManualChange['make'] =>
  async (testbed) => {
    const names = await testbed.names();
    for (const command of commands) await testbed.node.vpp.cli(command(names, testbed));
  };

const deletePodInterface = cli(({ db }, { links }) => deletion(db, links));
const deleteHostInterface = cli(({ host }, { links }) => deletion(host, links));

function deletion(name: string, links: Links): string {
  return links === 'TAP'
    ? `delete tap ${name}`
    : `delete host-interface name ${name.replace('host-', '')}`;
}

async function setRoute(testbed: ManualChangeTestbed, prefix: string, to: 'drop' | string) {
  const path =
    to === 'drop' ? fibPath({ type: DROP }) : fibPath({ sw_if_index: await testbed.indexOf(to) });
  const route = { table_id: POD_TABLE, stats_index: 0, prefix: toPrefix(prefix), paths: [path] };
  await testbed.client.request('ip_route_add_del', { is_add: true, is_multipath: false, route });
}

async function deleteNeighbor(testbed: ManualChangeTestbed): Promise<void> {
  const sw_if_index = await testbed.indexOf((await testbed.names()).db);
  const neighbor = {
    sw_if_index,
    flags: 1,
    mac_address: toMac(OTHER_MAC),
    ip_address: toAddress(testbed.db.address),
  };
  await testbed.client.request('ip_neighbor_add_del', { is_add: false, neighbor });
}

export const vppChanges: readonly ManualChange[] = [
  { title: 'the interface to a pod is deleted', make: deletePodInterface },
  { title: 'the interface to a pod is deleted a second time', make: deletePodInterface },
  { title: 'the interface to the host is deleted', make: deleteHostInterface },
  {
    title: 'the interface to a pod is put into a bridge domain',
    isUntraced: true,
    make: cli(({ db }) => `set interface l2 bridge ${db} 99`),
  },
  {
    title: 'the interface to the host is put into a bridge domain',
    isUntraced: true,
    make: cli(({ host }) => `set interface l2 bridge ${host} 99`),
  },
  {
    // to an interface without ACLs: VPP v26.06 crashes when a packet leaves by a cross-connected one with ACLs
    title: 'the interface to a pod is cross-connected to the interface to the host',
    isUntraced: true,
    make: cli(({ db, host }) => `set interface l2 xconnect ${db} ${host}`),
  },
  {
    title: 'the interface to a pod is set down',
    make: cli(({ db }) => `set interface state ${db} down`),
  },
  {
    title: 'the interface to the host is set down',
    make: cli(({ host }) => `set interface state ${host} down`),
  },
  {
    title: 'the gateway loopback is set down',
    make: cli(({ gateway }) => `set interface state ${gateway} down`),
  },
  {
    title: 'the gateway loopback is deleted',
    make: cli(({ gateway }) => `delete loopback interface intfc ${gateway}`),
  },
  {
    title: 'the MAC of the interface to a pod is changed',
    make: cli(({ db }) => `set interface mac address ${db} ${OTHER_MAC}`),
  },
  {
    title: 'the MAC of the interface to the host is changed',
    make: cli(({ host }) => `set interface mac address ${host} ${OTHER_MAC}`),
  },
  {
    title: 'the MTU of the interface to a pod is changed',
    make: cli(({ db }) => `set interface mtu packet 600 ${db}`),
  },
  {
    title: 'the address of the interface to the host is removed',
    make: cli(({ host }) => `set interface ip address del ${host} 172.30.1.1/24`),
  },
  {
    title: 'the address of the gateway loopback is removed',
    make: cli(({ gateway }) => `set interface ip address del ${gateway} 10.1.1.1/24`),
  },
  {
    title: 'the route to a pod is deleted',
    make: async (testbed) => {
      const route = await testbed.route(`${testbed.db.address}/32`);
      await testbed.client.request('ip_route_add_del', {
        is_add: false,
        is_multipath: false,
        route,
      });
    },
  },
  {
    title: 'the route and the neighbor of a pod are deleted',
    make: async (testbed) => {
      const route = await testbed.route(`${testbed.db.address}/32`);
      await deleteNeighbor(testbed);
      await testbed.client.request('ip_route_add_del', {
        is_add: false,
        is_multipath: false,
        route,
      });
    },
  },
  {
    title: 'the route to a pod is changed to drop',
    make: (testbed) => setRoute(testbed, `${testbed.db.address}/32`, 'drop'),
  },
  {
    title: 'the route to a pod leads to another pod',
    make: async (testbed) =>
      setRoute(testbed, `${testbed.db.address}/32`, (await testbed.names()).web),
  },
  {
    title: 'a more specific drop is added over the API',
    make: (testbed) => setRoute(testbed, `${testbed.host.address}/32`, 'drop'),
  },
  {
    title: 'a more specific drop is added in the shell',
    make: cli((_, { host }) => `ip route add ${host.address}/32 table ${POD_TABLE} via drop`),
    undo: cli((_, { host }) => `ip route del ${host.address}/32 table ${POD_TABLE} via drop`),
  },
  {
    title: 'the neighbor of a pod is changed',
    make: cli(
      ({ db }, testbed) => `set ip neighbor static ${db} ${testbed.db.address} ${OTHER_MAC}`,
    ),
  },
  { title: 'the neighbor of a pod is deleted', make: deleteNeighbor },
  {
    title: 'the host as a neighbor is changed',
    make: cli(
      ({ host }, testbed) => `set ip neighbor static ${host} ${testbed.host.address} ${OTHER_MAC}`,
    ),
  },
  {
    title: 'the interface to a pod borrows no address any more',
    make: cli(({ db }) => `set interface unnumbered del ${db}`),
  },
  {
    title: 'the interface to a pod is moved to table 0',
    make: cli(
      ({ db }) => `set interface unnumbered del ${db}`,
      ({ db }) => `set interface ip table ${db} 0`,
    ),
  },
  {
    title: 'the tag of the interface to a pod is removed',
    make: cli(({ db }) => `clear interface tag ${db}`),
  },
];
