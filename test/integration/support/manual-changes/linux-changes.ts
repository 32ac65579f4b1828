/** Changes of the links of pods and host past the agent. */
import type { Endpoint } from '../traffic.ts';
import type { ManualChange } from './manual-change.ts';
import type { ManualChangeTestbed } from './testbed.ts';

const OTHER_MAC = '02:00:00:00:00:98';

type Place = 'db' | 'host';

/** @param commands separated by commas */
const run =
  (place: Place, commands: string): ManualChange['make'] =>
  async (testbed) => {
    const end: Endpoint = testbed[place];
    for (const command of commands.split(', ')) await end.run(...words(command, testbed));
  };

function words(command: string, { web, node }: ManualChangeTestbed): readonly string[] {
  return command
    .split(' ')
    .map((word) => word.replace('WEB', web.address).replace('HOSTNS', node.netns.path));
}

export const linuxChanges: readonly ManualChange[] = [
  { title: 'the link of a pod is set down', make: run('db', 'ip link set eth0 down') },
  { title: 'the link of a pod is deleted', make: run('db', 'ip link del eth0') },
  {
    title: 'the link of a pod is renamed',
    make: run('db', 'ip link set eth0 down, ip link set eth0 name eth9, ip link set eth9 up'),
  },
  {
    title: 'the link of a pod is moved to the host',
    make: run('db', 'ip link set eth0 netns HOSTNS'),
  },
  {
    title: 'the MAC of the link of a pod is changed',
    make: run('db', `ip link set eth0 address ${OTHER_MAC}`),
  },
  { title: 'the MTU of the link of a pod is changed', make: run('db', 'ip link set eth0 mtu 600') },
  { title: 'the address of a pod is deleted', make: run('db', 'ip addr flush dev eth0') },
  { title: 'the default route of a pod is deleted', make: run('db', 'ip route del default') },
  { title: 'all routes of a pod are deleted', make: run('db', 'ip route flush dev eth0') },
  {
    title: 'the default route of a pod is replaced',
    make: run('db', 'ip route replace default dev lo'),
  },
  {
    title: 'a default route with a lower metric is added to a pod',
    make: run(
      'db',
      'ip route del default, ip route add default via 10.1.1.1 dev eth0 metric 5, ip route add default dev lo',
    ),
  },
  {
    title: 'a blackhole is added to a pod',
    make: run('db', 'ip route add blackhole WEB/32'),
    undo: run('db', 'ip route del blackhole WEB/32'),
  },
  {
    title: 'a route by another link is added to a pod',
    make: run('db', 'ip route add WEB/32 dev lo'),
    undo: run('db', 'ip route del WEB/32 dev lo'),
  },
  {
    title: 'the gateway of a pod gets another MAC',
    make: run('db', `ip neigh replace 10.1.1.1 lladdr ${OTHER_MAC} nud permanent dev eth0`),
  },
  { title: 'the neighbor of a pod is deleted', make: run('db', 'ip neigh del 10.1.1.1 dev eth0') },
  { title: 'the link of the host is set down', make: run('host', 'ip link set vpp1 down') },
  { title: 'the link of the host is deleted', make: run('host', 'ip link del vpp1') },
  {
    title: 'the MAC of the link of the host is changed',
    make: run('host', `ip link set vpp1 address ${OTHER_MAC}`),
  },
  {
    title: 'VPP as a neighbor of the host is changed',
    make: run('host', `ip neigh replace 172.30.1.1 lladdr ${OTHER_MAC} nud permanent dev vpp1`),
  },
  {
    title: 'VPP as a neighbor of the host is deleted',
    make: run('host', 'ip neigh del 172.30.1.1 dev vpp1'),
  },
  {
    title: 'the MTU of the link of the host is changed',
    make: run('host', 'ip link set vpp1 mtu 600'),
  },
  { title: 'the address of the host is deleted', make: run('host', 'ip addr flush dev vpp1') },
  {
    title: 'the route of the host to the pods is deleted',
    make: run('host', 'ip route del 10.1.0.0/16'),
  },
  {
    title: 'a blackhole is added to the host',
    make: run('host', 'ip route add blackhole WEB/32'),
    undo: run('host', 'ip route del blackhole WEB/32'),
  },
];
