/** Peers of a rule in words: pods by their names where the prefix has only pods, else prefixes. */
import {
  type Cidr,
  formatCidr,
  type IpBytes,
  lastAddress,
  network,
  parseCidr,
  parseIp,
} from '#models/ip.ts';
import type { ClusterPod } from './command.ts';
import { shortList } from './failures.ts';
import { splitBlock } from './split-block.ts';

/** Larger prefixes were not made from addresses of pods; by the length of an address in bytes. */
const minLength: Readonly<Record<number, number>> = { 4: 24, 16: 120 };

/** @param pods undefined: their addresses are not known */
export function peersInWords(
  peers: readonly string[],
  pods: readonly ClusterPod[] | undefined,
): string {
  if (peers.some((peer) => peer.endsWith('/0'))) return 'every address';
  if (peers.length === 0) return 'no address';
  const split = splitBlock(peers);
  // Pods of a dense range are no block.
  if (split?.prefixes.some(isLarge))
    return `${formatCidr(split.block)} except ${shortList(split.exceptions)}`;
  const { names, others } = named(peers, sorted(pods ?? []));
  const parts: string[] = [];
  if (names.length > 0) parts.push(`${names.length === 1 ? 'pod' : 'pods'} ${shortList(names)}`);
  if (others.length > 0) parts.push(shortList(others));
  return parts.join(' and ');
}

interface NamedAddress {
  readonly address: IpBytes;
  readonly name: string;
}

/** By address: a rule may have all pods of a large cluster as peers. */
function sorted(pods: readonly ClusterPod[]): readonly NamedAddress[] {
  const all = pods.flatMap(({ namespace, name, address: text }) => {
    const address = parseIp(text ?? '');
    return address ? [{ address, name: `${namespace}/${name}` }] : [];
  });
  return all.sort((a, b) => order(a.address, b.address));
}

function order(a: IpBytes, b: IpBytes): number {
  return a.length - b.length || Buffer.compare(a, b);
}

function named(peers: readonly string[], pods: readonly NamedAddress[]) {
  const names: string[] = [];
  const others: string[] = [];
  for (const peer of peers) {
    const prefix = parseCidr(peer, 'bare');
    const found = prefix && !isLarge(prefix) ? namesIn(prefix, pods) : [];
    if (found.length > 0) names.push(...found);
    else others.push(peer);
  }
  return { names, others };
}

function isLarge({ address, length }: Cidr): boolean {
  return length < minLength[address.length]!;
}

function namesIn(prefix: Cidr, pods: readonly NamedAddress[]): string[] {
  const first = network(prefix).address;
  const last = lastAddress(prefix);
  let [low, high] = [0, pods.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order(pods[middle]!.address, first) < 0) low = middle + 1;
    else high = middle;
  }
  const names: string[] = [];
  for (let at = low; at < pods.length && order(pods[at]!.address, last) <= 0; at++)
    names.push(pods[at]!.name);
  return names;
}
