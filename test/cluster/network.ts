/**
 * Networks of the cluster: one namespace for each node's host, and `cv-out`, which is outside. Each host
 * has two NICs: `eth0` on the management network with the node's address, `eth1` for VPP.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export const OUTSIDE = 'cv-out';

/** `n1` for the first one. */
export const nodeName = (node: number): string => `n${node}`;
export const netnsOf = (node: number): string => `cv-${nodeName(node)}`;

/** Of the host, on the management network. */
export const hostAddress = (node: number): string => `192.168.100.${10 + node}`;
/** Of VPP, on the network that it has for itself. */
export const vppAddress = (node: number): string => `192.168.16.${node}`;
export const OUTSIDE_ADDRESS = '192.168.100.1';
/** Next hop of VPP's default route. */
export const GATEWAY = '192.168.16.254';

export const enterNetns = (netns: string): string[] => ['ip', 'netns', 'exec', netns];

/** A host of the Internet, at port 53 over TCP, as a test expects it. */
export const INTERNET_ADDRESS = '8.8.8.8';

/** Offloads would give VPP's packets of its AF_PACKET link without checksums. */
const OFFLOADS = ['gro', 'lro', 'tx', 'rx', 'gso', 'tso'];

export function createNetworks(nodes: number): void {
  ip('netns', 'add', OUTSIDE);
  inNetns(OUTSIDE, 'link', 'set', 'lo', 'up');
  for (const [bridge, address] of [
    ['management', OUTSIDE_ADDRESS],
    ['data', GATEWAY],
  ] as const) {
    inNetns(OUTSIDE, 'link', 'add', bridge, 'type', 'bridge');
    inNetns(OUTSIDE, 'link', 'set', bridge, 'up');
    inNetns(OUTSIDE, 'addr', 'add', `${address}/24`, 'dev', bridge);
  }
  inNetns(OUTSIDE, 'addr', 'add', `${INTERNET_ADDRESS}/32`, 'dev', 'lo');
  run([...enterNetns(OUTSIDE), 'sysctl', '-qw', 'net.ipv4.ip_forward=1']);
  for (let node = 1; node <= nodes; node++) connectNode(node);
}

function connectNode(node: number): void {
  const netns = netnsOf(node);
  ip('netns', 'add', netns);
  inNetns(netns, 'link', 'set', 'lo', 'up');
  for (const [nic, bridge] of [
    ['eth0', 'management'],
    ['eth1', 'data'],
  ] as const) {
    const outer = `${bridge[0]}${node}`;
    inNetns(OUTSIDE, 'link', 'add', outer, 'type', 'veth', 'peer', 'name', nic, 'netns', netns);
    inNetns(OUTSIDE, 'link', 'set', outer, 'master', bridge, 'up');
    inNetns(netns, 'link', 'set', nic, 'up');
  }
  inNetns(netns, 'addr', 'add', `${hostAddress(node)}/24`, 'dev', 'eth0');
  inNetns(netns, 'route', 'add', 'default', 'via', OUTSIDE_ADDRESS);
  disableOffloads(netns, 'eth1');
  disableOffloads(OUTSIDE, `d${node}`);
}

function disableOffloads(netns: string, nic: string): void {
  for (const name of OFFLOADS)
    try {
      run([...enterNetns(netns), 'ethtool', '-K', nic, name, 'off']);
    } catch {
      // The kernel has no such one, or keeps it off.
    }
}

export function removeNetworks(nodes: number): void {
  const names = [OUTSIDE, ...Array.from({ length: nodes }, (_, i) => netnsOf(i + 1))];
  for (const name of names) if (existsSync(`/run/netns/${name}`)) ip('netns', 'del', name);
}

const ip = (...args: string[]): void => run(['ip', ...args]);
const inNetns = (netns: string, ...args: string[]): void => ip('-n', netns, ...args);

function run(command: readonly string[]): void {
  execFileSync(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
}
