/**
 * The cost of agents for one etcd, and their return after it was out of reach. N light agents, which are the watchers of agents
 * without the rest, and one whole agent with simulated VPP and Linux follow a cluster of 100 nodes, whose pods are replaced
 * with their endpoints. Without a proxy, and with two of `etcd grpc-proxy`. Costs are processor times per change and agent,
 * which other load of the machine changes little; the line through the numbers of each N is extended to 5,000 agents.
 *
 * After that etcd is out of reach for a minute, and the agents return.
 */
import { withoutEtcd } from '#test/support/requirements.ts';
import { CHANGES_PER_SECOND, type Cost, costOf, type PartsCpu } from './lib/fleet/costs.ts';
import { outage, type Return } from './lib/fleet/outage.ts';

export const NAME = 'fleet: light agents on one etcd';

type Print = (line: string) => void;

const AGENTS = [10, 100, 250, 500];
const PROXIES = [0, 2];
const LARGE = 5_000;
const AGENTS_OF_PROXY = 250;
const AGENTS_OF_OUTAGE = 200;
const AWAY_MS = 60_000;

const returns: Readonly<Record<Return, string>> = {
  kept: 'its watches continue',
  spread: 'its history is compacted, agents read at random times',
  'at once': 'its history is compacted, all read at once',
};

export async function run(print: Print): Promise<void> {
  const reason = withoutEtcd();
  if (reason) throw new Error(reason);
  for (const proxies of PROXIES) {
    print(proxies === 0 ? 'agents on etcd:' : `agents on ${proxies} proxies:`);
    const costs: Cost[] = [];
    for (const agents of AGENTS) {
      const cost = await costOf(agents, proxies);
      print(`  ${cost.text}`);
      costs.push(cost);
    }
    extend(print, costs, proxies);
  }
  print(`etcd out of reach for ${AWAY_MS / 1_000} s, ${AGENTS_OF_OUTAGE} agents:`);
  for (const [how, what] of Object.entries(returns)) {
    const { seconds, reads, peak, cpuSeconds } = await outage(
      AGENTS_OF_OUTAGE,
      AWAY_MS,
      how as Return,
    );
    print(
      `  ${what}: all current after ${seconds.toFixed(1)} s, ${reads} whole reads, ` +
        `etcd at most ${peak.toFixed(2)} cores in half a second, ${cpuSeconds.toFixed(2)} s in all`,
    );
  }
}

/** The lines through the costs of each number of agents, at 5,000 of them. */
function extend(print: Print, costs: readonly Cost[], proxies: number): void {
  const isDirect = proxies === 0;
  const at = (agents: number, part: keyof PartsCpu): number => {
    // behind proxies etcd has their watches alone, however many agents there are
    const change =
      part === 'etcd' && !isDirect
        ? median(costs.map((one) => one.change.etcd))
        : line(costs, (one) => one.change[part])(agents);
    const quiet = line(costs, (one) => one.quiet[part])(agents);
    return (change * CHANGES_PER_SECOND + quiet) / 1e6;
  };
  const most = costs.at(-1)!.agents;
  const quiet = line(costs, (one) => one.quiet.etcd)(LARGE) / 1e6;
  const proxy = at(AGENTS_OF_PROXY * proxies, 'proxies') / proxies;
  print(
    `  ${LARGE} agents, ${CHANGES_PER_SECOND} changes a second, cores: etcd ${at(LARGE, 'etcd').toFixed(1)}, of which ` +
      `${quiet.toFixed(1)} when nothing changes` +
      (isDirect ? '' : `; each of ${LARGE / AGENTS_OF_PROXY} proxies ${proxy.toFixed(2)}`) +
      `; each light agent ${(at(most, 'agents') / most).toFixed(3)}`,
  );
  const list = (values: readonly number[]) => values.map((one) => one.toFixed(0)).join(', ');
  print(
    '    assumed: costs are straight lines over the number of agents, through those above, which were measured at ' +
      `${list(costs.map(({ rate }) => rate))} changes a second, as many as fit into two cores; records and changes are those of a ` +
      'cluster of 100 nodes' +
      (isDirect
        ? ''
        : `; a proxy for each ${AGENTS_OF_PROXY} agents, and a change costs etcd what it does with ${proxies} of them, whatever the number of agents`),
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
}

/** Least squares. */
function line(costs: readonly Cost[], value: (cost: Cost) => number): (agents: number) => number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, one) => sum + one, 0) / values.length;
  const x = mean(costs.map(({ agents }) => agents));
  const y = mean(costs.map(value));
  const slope =
    mean(costs.map((one) => (one.agents - x) * (value(one) - y))) /
    mean(costs.map(({ agents }) => (agents - x) ** 2));
  return (agents) => y + slope * (agents - x);
}
