/**
 * Networks of the cluster: one namespace for each node's host, and `cv-out`, which is outside. Each host
 * has two NICs: `eth0` on the management network with the node's address, `eth1` for VPP.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type AddressFamily, networksOf } from './address-family.ts';
import type { ClusterSettings } from './settings.ts';

export const OUTSIDE = 'cv-out';

/** `n1` for the first one. */
export const nodeName = (node: number): string => `n${node}`;
export const netnsOf = (node: number): string => `cv-${nodeName(node)}`;

/** Of the host, on the management network. */
export const hostAddress = (node: number, family: AddressFamily): string =>
  networksOf[family].management(10 + node);
/** Of VPP, on the network that it has for itself. */
export const vppAddress = (node: number, family: AddressFamily): string =>
  networksOf[family].data(node);
export const outsideAddress = (family: AddressFamily): string => networksOf[family].management(1);
/** Next hop of VPP's default route. */
export const gateway = (family: AddressFamily): string => networksOf[family].data(254);

export const enterNetns = (netns: string): string[] => ['ip', 'netns', 'exec', netns];

/** Offloads would give VPP's packets of its AF_PACKET link without checksums. */
const OFFLOADS = ['gro', 'lro', 'tx', 'rx', 'gso', 'tso'];

export function createNetworks({ nodes, families }: ClusterSettings): void {
  ip('netns', 'add', OUTSIDE);
  inNetns(OUTSIDE, 'link', 'set', 'lo', 'up');
  for (const [bridge, addressOf] of [
    ['management', outsideAddress],
    ['data', gateway],
  ] as const) {
    inNetns(OUTSIDE, 'link', 'add', bridge, 'type', 'bridge');
    inNetns(OUTSIDE, 'link', 'set', bridge, 'up');
    for (const family of families) addAddress(OUTSIDE, bridge, addressOf(family), family);
  }
  for (const family of families)
    inNetns(OUTSIDE, 'addr', 'add', networksOf[family].internet, 'dev', 'lo');
  for (const name of ['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding'])
    run([...enterNetns(OUTSIDE), 'sysctl', '-qw', `${name}=1`]);
  for (let node = 1; node <= nodes; node++) connectNode(node, families);
}

function connectNode(node: number, families: readonly AddressFamily[]): void {
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
  for (const family of families) {
    addAddress(netns, 'eth0', hostAddress(node, family), family);
    inNetns(netns, 'route', 'add', 'default', 'via', outsideAddress(family));
  }
  disableOffloads(netns, 'eth1');
  disableOffloads(OUTSIDE, `d${node}`);
}

/** Usable at once, also with IPv6. */
function addAddress(netns: string, link: string, address: string, family: AddressFamily): void {
  const flags = family === 'ipv6' ? ['nodad'] : [];
  const { prefixLength } = networksOf[family];
  inNetns(netns, 'addr', 'add', `${address}/${prefixLength}`, 'dev', link, ...flags);
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
