/**
 * The rules of one direction of a pod as a table has them: one list of permits and denials, without tiers. A Pass leaves the
 * decision to the next tier, which a table cannot express. It is carried by what the next tiers say about what it passes,
 * in its place; where no later rule of its tier would decide otherwise, it needs nothing.
 */
import { type AddressNumber, AddressSet } from '../address-set.ts';
import { isRestricted, policyTiers, type RuleAction, type RuleList } from '../pod-policy.ts';
import { type PolicyProtocol, PortSet } from '../port-set.ts';
import { mergedEntries, type PeerPorts } from './merged-entries.ts';

export type TableAction = 'permit' | 'deny';

/** Entries of one action, whose order does not matter. */
export interface Run {
  readonly action: TableAction;
  readonly entries: readonly PeerPorts[];
}

export interface Decisions {
  /** Peers that are permitted everything before all runs. */
  readonly always: AddressSet;
  /** The first run with an entry that matches decides, none permits. The actions alternate. */
  readonly runs: readonly Run[];
}

const open: Decisions = { always: AddressSet.none, runs: [] };

interface TierRule extends PeerPorts {
  readonly action: RuleAction;
}

type Tier = readonly TierRule[];

type Region = PeerPorts;

const everything: Region = { peers: AddressSet.any, ports: PortSet.any };

const ofIngress = new WeakMap<RuleList, Decisions>();
const ofEgress = new WeakMap<RuleList, { readonly node: AddressSet; readonly found: Decisions }>();

/** Kept as long as the list. */
export function ingressDecisions(list: RuleList): Decisions {
  const found = ofIngress.get(list) ?? decisionsOf(list, AddressSet.none);
  ofIngress.set(list, found);
  return found;
}

/**
 * Kept as long as the list, for the last node.
 * @param node a NetworkPolicy lets each pod reach it, policies of the cluster need not
 */
export function egressDecisions(list: RuleList, node: AddressSet): Decisions {
  const known = ofEgress.get(list);
  if (known?.node === node) return known.found;
  const found = decisionsOf(list, node);
  ofEgress.set(list, { node, found });
  return found;
}

function decisionsOf(list: RuleList, node: AddressSet): Decisions {
  if (!isRestricted(list)) return open;
  const tiers = policyTiers.map((tier) => list.rules.filter((rule) => rule.tier === tier));
  const [admin = [], own = [], baseline = []] = tiers;
  if (own.length === 0 || node.isEmpty)
    return { always: AddressSet.none, runs: runsOf([admin, own, baseline]) };
  if (admin.length === 0) return { always: node, runs: runsOf([own, baseline]) };
  const ofNode: TierRule = { action: 'Accept', peers: node, ports: PortSet.any };
  return { always: AddressSet.none, runs: runsOf([admin, [ofNode, ...own], baseline]) };
}

interface Decision extends PeerPorts {
  readonly action: TableAction;
}

function runsOf(tiers: readonly Tier[]): Run[] {
  const { decisions } = decided(tiers, everything);
  const runs: { action: TableAction; entries: PeerPorts[] }[] = [];
  for (const { action, peers, ports } of decisions) {
    const last = runs.at(-1);
    if (last?.action === action) last.entries.push({ peers, ports });
    else runs.push({ action, entries: [{ peers, ports }] });
  }
  if (runs.at(-1)?.action === 'permit') runs.pop();
  return runs.map(({ action, entries }) => ({ action, entries: mergedEntries(entries) }));
}

interface Decided {
  readonly decisions: readonly Decision[];
  /** Whether nothing of the region is left. */
  readonly isComplete: boolean;
}

/** The decisions of tiers about a region, in their order. */
function decided([tier, ...next]: readonly Tier[], region: Region): Decided {
  if (tier === undefined) return { decisions: [], isComplete: false };
  const decisions: Decision[] = [];
  for (const [at, rule] of tier.entries()) {
    const own = common(region, rule);
    if (own === undefined) continue;
    if (rule.action === 'Pass') {
      if (isDecidedOtherwise(tier.slice(at + 1), own)) decisions.push(...passed(next, own));
    } else decisions.push({ action: rule.action === 'Accept' ? 'permit' : 'deny', ...own });
    // later rules of the tier match nothing more
    if (contains(own, region)) {
      if (rule.action !== 'Pass') return { decisions, isComplete: true };
      break;
    }
  }
  const rest = decided(next, region);
  return { decisions: [...decisions, ...rest.decisions], isComplete: rest.isComplete };
}

function passed(next: readonly Tier[], region: Region): Decision[] {
  const { decisions, isComplete } = decided(next, region);
  return isComplete ? [...decisions] : [...decisions, { action: 'permit', ...region }];
}

function isDecidedOtherwise(later: readonly TierRule[], region: Region): boolean {
  return later.some((rule) => rule.action !== 'Pass' && common(rule, region) !== undefined);
}

function common(a: Region, b: PeerPorts): Region | undefined {
  const ports = a.ports.intersect(b.ports);
  if (ports.isEmpty) return undefined;
  const peers =
    a.peers === AddressSet.any
      ? b.peers
      : b.peers === AddressSet.any
        ? a.peers
        : a.peers.intersect(b.peers);
  return peers.isEmpty ? undefined : { peers, ports };
}

function contains(outer: Region, inner: Region): boolean {
  return inner.ports.minus(outer.ports).isEmpty && inner.peers.minus(outer.peers).isEmpty;
}

const byDecisions = new WeakMap<Decisions, Map<AddressNumber, PortSet>>();
const intersections = new WeakMap<PortSet, WeakMap<PortSet, PortSet>>();

/** Ports that are permitted for one peer: asked for each pair of pods of a node, with each change. Kept as the decisions. */
export function portsFor(decisions: Decisions, address: AddressNumber): PortSet {
  const known = byDecisions.get(decisions) ?? new Map<AddressNumber, PortSet>();
  byDecisions.set(decisions, known);
  const before = known.get(address);
  if (before !== undefined) return before;
  const ports = decisions.always.has(address) ? PortSet.any : computed(decisions, address);
  known.set(address, ports);
  return ports;
}

function computed({ runs }: Decisions, address: AddressNumber): PortSet {
  let undecided = PortSet.any;
  const denied: PortSet[] = [];
  for (const { action, entries } of runs) {
    const matching = entries.filter(({ peers }) => peers.has(address)).map(({ ports }) => ports);
    const ports = PortSet.union(matching);
    if (action === 'deny') denied.push(ports.intersect(undecided));
    undecided = undecided.minus(ports);
  }
  return PortSet.union(denied).complement();
}

/** Peers that are permitted one port. */
export function peersFor(
  { always, runs }: Decisions,
  protocol: PolicyProtocol,
  port: number,
): AddressSet {
  let undecided = AddressSet.any.minus(always);
  const permitted = [always];
  for (const { action, entries } of runs) {
    const matching = entries.filter(({ ports }) => ports.has(protocol, port));
    const peers = AddressSet.union(matching.map((one) => one.peers));
    if (action === 'permit') permitted.push(peers.intersect(undecided));
    undecided = undecided.minus(peers);
  }
  return AddressSet.union([...permitted, undecided]);
}

/** Kept as long as both sets. */
export function commonPorts(a: PortSet, b: PortSet): PortSet {
  if (a === b || b.isAny) return a;
  if (a.isAny) return b;
  const known = intersections.get(a) ?? new WeakMap<PortSet, PortSet>();
  intersections.set(a, known);
  const both = known.get(b) ?? a.intersect(b);
  known.set(b, both);
  return both;
}
