/** Writes records as fast as etcd takes them, or evenly in a time, while each second a pod of the agent's node changes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { quantiles } from '../quantiles.ts';
import type { Print } from '../subprocess.ts';
import { type LargeRecord, namespaceRecord, OWN_NODE, podRecord, podsOf } from './large-records.ts';
import { OrderedWrites } from './ordered-writes.ts';
import type { Stand } from './stand.ts';

const OWN_EVERY_MS = 1_000;
const POLL_MS = 50;
const MAX_SECONDS = 300;

const own = podsOf(OWN_NODE);
let turns = 0;

/** @param seconds in which to write them; default: as fast as etcd takes them */
export async function storm(
  { etcd, agent, light }: Stand,
  name: string,
  records: readonly LargeRecord[],
  print: Print,
  seconds = 0,
): Promise<void> {
  const store = etcd.store(etcd.port, 60_000);
  const write = (key: string, text: string | undefined) =>
    text === undefined ? store.delete(key) : store.put(key, text);
  const delays = new OwnDelays();
  await agent.report('report');
  delays.take((await agent.storm()).own);
  const { resyncs } = await agent.report('report');
  const lightResyncs = (await light.state('')).resyncs;
  const agentCpu = agent.cpuSeconds;
  const lightCpu = light.cpu.agents;
  const start = performance.now();

  let longestMs = 0;
  let looks = 0;
  let notReady = 0;
  let longestQueue = 0;
  let turn: string | undefined;
  let agentDone = 0;
  let lightDone = 0;
  let isGoing = true;

  const ownChanges = (async () => {
    for (let at = 0; isGoing; at++) {
      const version = `own-${++turns}`;
      delays.written(version);
      const [key, text] = podRecord(own[at % own.length]!, 0, 'running', version);
      await write(key, text);
      await sleep(OWN_EVERY_MS);
    }
  })();
  const looking = (async () => {
    for (let at = 0; agentDone === 0; at++) {
      const report = await agent.storm();
      delays.take(report.own);
      longestQueue = Math.max(longestQueue, report.longestQueue);
      if (turn !== undefined && report.turn === turn && report.isIdle)
        agentDone = performance.now();
      if (at % (1_000 / POLL_MS) === 0) {
        looks++;
        if (!(await agent.isReady())) notReady++;
        longestMs = Math.max(longestMs, (await agent.report('report')).longestMs);
      }
      if (performance.now() - start > MAX_SECONDS * 1_000) throw new Error(`${name}: not current`);
      await sleep(POLL_MS);
    }
  })();

  const writes = new OrderedWrites(write);
  for (const [at, record] of records.entries()) {
    const ms = start + (at * seconds * 1_000) / records.length - performance.now();
    if (ms > 1) await sleep(ms);
    await writes.add(record);
  }
  await writes.end();
  const mark = `storm-${++turns}`;
  const [key, text] = namespaceRecord(0, mark);
  await write(key, text);
  turn = mark;
  const end = performance.now();
  const lightCurrent = light.whenCurrent(mark).then(() => {
    lightDone = performance.now();
  });
  await Promise.all([looking, lightCurrent]);
  const agentSeconds = agent.cpuSeconds - agentCpu;
  const lightSeconds = light.cpu.agents - lightCpu;
  isGoing = false;
  await ownChanges;
  await sleep(1_000);
  delays.take((await agent.storm()).own);
  const report = await agent.report('report');
  print(
    `${name}: ${records.length} writes in ${((end - start) / 1_000).toFixed(1)} s; after the last one the agent is current after ` +
      `${(agentDone - end).toFixed(0)} ms, the light agent after ${(lightDone - end).toFixed(0)} ms; own pods ${delays.text}; ` +
      `queue at most ${longestQueue}; longest stretch ${Math.max(longestMs, report.longestMs).toFixed(0)} ms; ` +
      `not ready in ${notReady} of ${looks} looks; resyncs ${report.resyncs - resyncs}, light agent ` +
      `${(await light.state('')).resyncs - lightResyncs}; processor time ${agentSeconds.toFixed(1)} s, light agent ${lightSeconds.toFixed(1)} s`,
  );
  await store.close();
}

/** From the writes of the own node's pods to the ends of their events. */
class OwnDelays {
  readonly #written = new Map<string, number>();
  readonly #values: number[] = [];

  written(version: string): void {
    this.#written.set(version, Date.now());
  }

  take(processed: readonly (readonly [version: string, end: number])[]): void {
    for (const [version, end] of processed) {
      const start = this.#written.get(version);
      if (start === undefined) continue;
      this.#written.delete(version);
      this.#values.push(end - start);
    }
  }

  get text(): string {
    const left = this.#written.size;
    return `${quantiles(this.#values)} (${this.#values.length}${left > 0 ? `, ${left} replaced by later ones` : ''})`;
  }
}
