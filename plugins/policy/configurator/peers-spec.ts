/** The peers of a rule, checked and compiled. */
import type { PolicyIpBlock, PolicyLabelSelector, PolicyPeer } from '#kubernetes/models/policy.ts';
import { parseCidr } from '#models/ip.ts';
import { AddressSet } from '../address-set.ts';
import { LabelSelector } from '../cache/label-selector.ts';
import type { PeerSelectorSpec } from '../cache/peer-selector.ts';
import type { PortName } from '../cache/policy-pod.ts';
import type { NamespaceScope } from '../cache/selector-index.ts';

export interface PeersSpec {
  /** The rule has no peers, so that it permits all of them. */
  readonly isEveryone: boolean;
  readonly selectors: readonly PeerSelectorSpec[];
  readonly blocks: AddressSet;
  /** Of nodes, by the labels of their objects. */
  readonly nodes: readonly LabelSelector[];
}

type Report = (problem: string) => void;
type ScopedSelector = Omit<PeerSelectorSpec, 'portNames' | 'isDenying'>;

/**
 * @param namespace of the policy
 * @param portNames names of ports that are resolved for each peer
 */
export function peersSpec(
  peers: readonly PolicyPeer[],
  namespace: string,
  portNames: readonly PortName[],
  report: Report,
): PeersSpec {
  const selectors: PeerSelectorSpec[] = [];
  const blocks: AddressSet[] = [];
  const isEveryone = peers.length === 0;
  // only a pod can have a port of the name
  if (isEveryone && portNames.length > 0)
    selectors.push({
      pods: LabelSelector.everything,
      namespaces: LabelSelector.everything,
      portNames,
      isDenying: false,
    });
  for (const [at, peer] of peers.entries()) {
    const tell: Report = (problem) => report(`peer ${at} permits nothing: ${problem}`);
    if (Object.values(peer).filter((field) => field !== undefined).length > 1) {
      tell('it has several kinds of peers');
    } else if (peer.ip_block !== undefined) {
      if (portNames.length > 0)
        report(`peer ${at}: a name of a port has no meaning for an IP block`);
      const block = ipBlock(peer.ip_block, tell);
      if (block !== undefined) blocks.push(block);
    } else {
      const selector = podSelector(peer, namespace, tell);
      if (selector !== undefined) selectors.push({ ...selector, portNames, isDenying: false });
    }
  }
  return { isEveryone, selectors, blocks: AddressSet.union(blocks), nodes: [] };
}

function podSelector(
  { pods, namespaces, pods_in_namespaces: both }: PolicyPeer,
  namespace: string,
  tell: Report,
): ScopedSelector | undefined {
  if (pods !== undefined) return scoped(selectorOf(pods, tell), namespace);
  if (namespaces !== undefined)
    return scoped(LabelSelector.everything, selectorOf(namespaces, tell));
  if (both !== undefined)
    return scoped(selectorOf(both.pods, tell), selectorOf(both.namespaces, tell));
  tell('it selects nothing');
  return undefined;
}

function scoped(
  pods: LabelSelector | undefined,
  namespaces: NamespaceScope | undefined,
): ScopedSelector | undefined {
  return pods === undefined || namespaces === undefined ? undefined : { pods, namespaces };
}

function selectorOf(
  record: PolicyLabelSelector | undefined,
  tell: Report,
): LabelSelector | undefined {
  if (record !== undefined) return LabelSelector.of(record, tell);
  tell('it lacks a selector');
  return undefined;
}

/** One invalid exception makes the whole block invalid: it would permit what the exception forbids. */
function ipBlock({ cidr, except }: PolicyIpBlock, tell: Report): AddressSet | undefined {
  const invalid = [cidr, ...except].find((text) => parseCidr(text) === undefined);
  if (invalid !== undefined) {
    tell(`"${invalid}" is not a CIDR`);
    return undefined;
  }
  return AddressSet.of([cidr]).minus(AddressSet.of(except));
}
