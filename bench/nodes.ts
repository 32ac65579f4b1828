/**
 * A large cluster and a full node, through the whole agent on the simulator: the number of messages
 * to VPP when the second and the last node join, the time of a resync with all nodes, and the time to
 * add the pods of a full node. Numbers of messages do not depend on the machine.
 */
import { performance } from 'node:perf_hooks';
import { HealingResync } from '#plugins/controller/api/events.ts';
import { addPod, type RunningAgent, until } from '#test/cmd/agent/harness.ts';
import { nodeWithNics, Scenario, tellOfNode } from '#test/cmd/agent/scenario.ts';

export const NAME = 'nodes';

const NODES = 500;
const PODS = 250;
/** Networks with enough subnets for all nodes. */
const wide = {
  podSubnetCIDR: '10.0.0.0/8',
  podSubnetOneNodePrefixLen: 24,
  vppHostSubnetCIDR: '172.16.0.0/12',
  vppHostSubnetOneNodePrefixLen: 24,
  nodeInterconnectCIDR: '198.18.0.0/16',
  vxlanCIDR: '198.19.0.0/16',
};

/** The n-th address of a network of the form `a.b.0.0/16`. */
function nth(start: string, n: number): string {
  return `${start}.${n >> 8}.${n & 255}`;
}

/** Messages that read; some are sent periodically. */
const READ =
  /_dump$|_get$|^sw_interface_get_table$|^nat44_show_running_config$|^feature_is_enabled$/;

class Messages {
  readonly #byName = new Map<string, number>();

  constructor(scenario: Scenario) {
    scenario.node.vpp.onRequest = (when, { name: message }) => {
      if (when !== 'before') return;
      this.#byName.set(message, (this.#byName.get(message) ?? 0) + 1);
    };
  }

  /** Messages since the last call. */
  take(): { readonly changes: number; readonly reads: number; readonly text: string } {
    const all = [...this.#byName].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#byName.clear();
    const changes = all.filter(([message]) => !READ.test(message));
    const sum = (list: readonly [string, number][]) => list.reduce((n, [, m]) => n + m, 0);
    return {
      changes: sum(changes),
      reads: sum(all) - sum(changes),
      text: changes.map(([message, n]) => `${n} ${message}`).join(', '),
    };
  }
}

async function join(scenario: Scenario, id: number): Promise<number> {
  const start = performance.now();
  const { controller } = scenario.running.agent;
  await tellOfNode(scenario.node, `node${id}`, {
    id,
    address: nth('198.51', id),
    vpp: `${nth('198.18', id)}/16`,
  });
  await until(() => {
    const [last] = controller.history.records.slice(-1);
    return last?.name === 'Node Update' && last.description.includes(`node${id}`);
  });
  return performance.now() - start;
}

async function resync({ agent }: RunningAgent): Promise<number> {
  const start = performance.now();
  await agent.controller.pushAndWait(HealingResync.event({ type: 'after-error', error: 'bench' }));
  return performance.now() - start;
}

export async function run(print: (line: string) => void): Promise<void> {
  const scenario = await Scenario.start({ ipam: wide }, await nodeWithNics());
  try {
    const messages = new Messages(scenario);
    for (let id = 2; id <= NODES; id++) {
      const watched = id === 2 || id === NODES;
      if (watched) messages.take();
      const ms = await join(scenario, id);
      if (!watched) continue;
      const { changes, text } = messages.take();
      print(`node ${id} joins: ${changes} changes of VPP in ${ms.toFixed(0)} ms (${text})`);
    }
    const times: number[] = [];
    for (let round = 0; round < 5; round++) times.push(await resync(scenario.running));
    messages.take();
    await resync(scenario.running);
    const { changes, reads } = messages.take();
    const median = [...times].sort((a, b) => a - b)[2]!;
    print(`resync with ${NODES} nodes: ${median.toFixed(0)} ms, median of ${times.length}`);
    print(`  ${reads} reads from VPP, ${changes} changes`);
  } finally {
    await scenario.running.stop();
  }
  await pods(print);
}

async function pods(print: (line: string) => void): Promise<void> {
  const { running } = await Scenario.start();
  try {
    const times: number[] = [];
    const start = performance.now();
    for (let n = 0; n < PODS; n++) {
      const containerId = n.toString(16).padStart(8, '0').padEnd(64, '0');
      const begun = performance.now();
      const pod = { name: `pod${n}`, containerId, netns: `/run/netns/${n}` };
      const reply = await addPod(running, pod);
      if (reply.result !== 0) throw new Error(reply.error);
      times.push(performance.now() - begun);
    }
    const total = performance.now() - start;
    const mean = (list: readonly number[]) =>
      (list.reduce((sum, one) => sum + one, 0) / list.length).toFixed(1);
    print(`${PODS} pods on one node: ${total.toFixed(0)} ms`);
    print(`  first 50: ${mean(times.slice(0, 50))} ms each, last 50: ${mean(times.slice(-50))} ms`);
    print(`resync with ${PODS} pods: ${(await resync(running)).toFixed(0)} ms`);
  } finally {
    await running.stop();
  }
}
