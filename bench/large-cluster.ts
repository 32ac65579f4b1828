/**
 * One agent in a cluster of 5,000 nodes, 150,000 pods, 10,000 services and 2,000 policies in a real etcd, while 100
 * records change each second: its processor time, its memory, the longest stretch of its main thread, the time from the
 * write of a record to the end of its transaction, and whether it was ready all the time. VPP and Linux are simulated in
 * the same process, whose time counts. The reference on the same etcd is a light agent: the watcher without the rest.
 * `--seconds=600` for ten minutes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMib } from './lib/large/agent-process.ts';
import { Churn } from './lib/large/churn.ts';
import type { LargeAgentReport } from './lib/large/messages.ts';
import { type Stand, withLargeCluster } from './lib/large/stand.ts';
import { Writer } from './lib/large/writer.ts';
import { quantiles } from './lib/quantiles.ts';
import type { Print } from './lib/subprocess.ts';

export const NAME = 'large-cluster: one agent among 5,000 nodes';

const SECONDS = 60;
const CHANGES_PER_SECOND = 100;
const WARM_UP_SECONDS = 20;
const SETTLE_SECONDS = 5;
const ROWS = 10;
const MAX_CPU_SHARE = 0.2;
const MIB = 2 ** 20;

export async function run(print: Print): Promise<void> {
  await withLargeCluster(print, (stand) => measureAgent(stand, seconds(), print));
}

function seconds(): number {
  const option = process.argv.find((word) => word.startsWith('--seconds='));
  return option ? Number(option.slice('--seconds='.length)) : SECONDS;
}

async function measureAgent(
  { etcd, agent, light }: Stand,
  duration: number,
  print: Print,
): Promise<void> {
  const writer = new Writer(etcd, new Churn(), CHANGES_PER_SECOND);
  try {
    await sleep(WARM_UP_SECONDS * 1_000);
    const collected = await agent.report('collect');
    // what has waited for the collection does not count
    await sleep(SETTLE_SECONDS * 1_000);
    const start = await agent.report('report');
    // a write whose event were not taken here would count until the next event of its key
    for (const { processed } of [collected, start])
      for (const [key, end] of processed) writer.taken(key, end);
    const cost = new Cost();
    const count = writer.count;
    writer.answers = [];
    const begin = { agent: agent.cpuSeconds, fleet: light.cpu, at: performance.now() };
    let row = { agent: begin.agent, at: begin.at, longest: 0 };
    for (let second = 1; second <= duration; second++) {
      await sleep(Math.max(0, begin.at + second * 1_000 - performance.now()));
      const report = await agent.report('report');
      cost.add(report, (key, end) => writer.taken(key, end), await agent.isReady());
      row.longest = Math.max(row.longest, report.longestMs);
      if (second % Math.ceil(duration / ROWS) !== 0 && second !== duration) continue;
      const cpu = agent.cpuSeconds;
      const now = performance.now();
      print(
        `${second} s: ${(((cpu - row.agent) * 1e5) / (now - row.at)).toFixed(1)} % of a core, ` +
          `${agent.residentMib.toFixed(0)} MiB resident, longest stretch ${row.longest.toFixed(0)} ms`,
      );
      row = { agent: cpu, at: now, longest: 0 };
    }
    const took = (performance.now() - begin.at) / 1_000;
    const share = (agent.cpuSeconds - begin.agent) / took;
    const lightShare = (light.cpu.agents - begin.fleet.agents) / took;
    const etcdShare = (light.cpu.etcd - begin.fleet.etcd) / took;
    const end = await agent.report('report');
    const after = await agent.report('collect');
    const history = (after.historyBytes - collected.historyBytes) / MIB;
    print(
      `${((writer.count - count) / took).toFixed(0)} changes a second (${writer.failed} failed), ${cost.events} events, ` +
        `${cost.transactions} with a transaction, ${end.resyncs - start.resyncs} resyncs`,
    );
    print(
      `main thread ${((end.mainMs - start.mainMs) / 10 / took).toFixed(1)} % of a core, of which garbage collection ` +
        `${((end.gcMs - start.gcMs) / 10 / took).toFixed(1)} % by the clock ` +
        `(${((end.minorCollections - start.minorCollections) / took).toFixed(1)} a second, ${end.majorCollections - start.majorCollections} of the whole heap); ` +
        'the other threads collect garbage, too, and write the mirror',
    );
    print(
      `agent ${(share * 100).toFixed(1)} % of a core (at most ${MAX_CPU_SHARE * 100}: ${share <= MAX_CPU_SHARE ? 'met' : 'MISSED'}), ` +
        `light agent ${(lightShare * 100).toFixed(1)} %, ratio ${(share / lightShare).toFixed(2)}; etcd ${(etcdShare * 100).toFixed(1)} % and ${residentMib(etcd.pid).toFixed(0)} MiB`,
    );
    print(
      `heap after a collection: ${(collected.heapBytes / MIB).toFixed(0)} MiB, at the end ${(after.heapBytes / MIB).toFixed(0)} MiB, ` +
        `of which the event history has ${history.toFixed(0)} MiB more`,
    );
    print(cost.text);
    print(`etcd's answer to a write, which is a part of it: ${quantiles(writer.answers)}`);
  } finally {
    await writer.stop();
  }
}

/** Sum of the reports. */
class Cost {
  events = 0;
  transactions = 0;
  #longest = 0;
  #looks = 0;
  #notReady = 0;
  readonly #delays: number[] = [];

  add(
    { processed, transactions, longestMs }: LargeAgentReport,
    delayOf: (key: string, end: number) => number | undefined,
    isReady: boolean,
  ): void {
    this.events += processed.length;
    this.transactions += transactions;
    this.#longest = Math.max(this.#longest, longestMs);
    this.#looks++;
    if (!isReady) this.#notReady++;
    for (const [key, end] of processed) {
      const delay = delayOf(key, end);
      if (delay !== undefined) this.#delays.push(delay);
    }
  }

  get text(): string {
    return (
      `from write to the end of the transaction: ${quantiles(this.#delays)}; ` +
      `longest stretch of the main thread ${this.#longest.toFixed(0)} ms; not ready in ${this.#notReady} of ${this.#looks} looks`
    );
  }
}
