/**
 * 100 calls of contiv-cni at once on a real VPP with TAPs: ADDs, and as many ADDs as DELs. The reference is as many
 * bare ADDs one after the other: the same messages to VPP and the same work in Linux without agent and executable, in
 * which the kernel moves the link. And the time for which VPP does not answer while a pod is deleted.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sandbox } from '#test/integration/support/sandbox.ts';
import { withoutCompiler, withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { buildContivCni, compile } from '../../../scripts/lib/contiv-cni.ts';
import { cniConfig } from '../cni-executable.ts';
import { ReplayedNode } from '../replayed-node.ts';
import { clientOf } from '../vpp-node.ts';
import { median, milliseconds, type Part, quantile, ROUNDS, type Row } from './row.ts';

const run = promisify(execFile);

const CALLS = 100;
/** In each round. */
const BARE_ADDS = 7;
const DELETED_PODS = 20;
/** Of the end of the last call, to the bare ADDs. */
const TARGET = 0.6;
const STANDSTILL_TARGET_MS = 5;

export const podBurst: Part = {
  title: 'pod burst',
  needs: () => withoutNodes() || withoutVhostNet() || withoutCompiler(),
  rows,
};

interface Call {
  readonly command: 'ADD' | 'DEL';
  readonly sandbox: Sandbox;
}

/** Milliseconds. */
interface Burst {
  readonly last: number;
  /** One bare ADD. */
  readonly bare: number;
  /** Of each ADD, from its start to its end. */
  readonly adds: readonly number[];
}

class Bursts implements AsyncDisposable {
  readonly #nodes: ReplayedNode;
  readonly #folder: string;
  readonly #programs: readonly [burst: string, input: string, cni: string];

  static async start(): Promise<Bursts> {
    return new Bursts(await ReplayedNode.start(), mkdtempSync(join(tmpdir(), 'burst-')));
  }

  private constructor(nodes: ReplayedNode, folder: string) {
    this.#nodes = nodes;
    this.#folder = folder;
    this.#programs = [join(folder, 'burst'), join(folder, 'input.json'), join(folder, 'cni')];
    const [burst, input, cni] = this.#programs;
    compile([join(import.meta.dirname, '../../reference/bare/burst.c')], burst);
    buildContivCni(cni);
    writeFileSync(input, cniConfig(folder, nodes.node.agent.cniSocket));
  }

  /** Some bare ADDs, and then all calls at once. @param deleted number of DELs */
  async burst(deleted: number): Promise<Burst> {
    const bare = await this.#bare();
    return this.#nodes.together(CALLS, async (pods) => {
      const [old, fresh] = [pods.slice(0, deleted), pods.slice(deleted)];
      if (old.length > 0) await this.#call(old.map(add));
      const calls = fresh.flatMap((pod, i) => {
        const other = old[i];
        return other ? [add(pod), del(other)] : [add(pod)];
      });
      const times = await this.#call(calls);
      await this.#call(fresh.map(del));
      return {
        last: Math.max(...times.map(({ end }) => end)),
        bare,
        adds: times.flatMap(({ start, end }, i) =>
          calls[i]?.command === 'ADD' ? [end - start] : [],
        ),
      };
    });
  }

  /** For each of some pods, the longest time without a reply of VPP while it was deleted. */
  async standstills(): Promise<readonly number[]> {
    const client = await clientOf(this.#nodes.node.vpp.apiSocket);
    const longest = await this.#nodes.together(DELETED_PODS, async (pods) => {
      const times: number[] = [];
      for (const pod of pods) {
        await this.#call([add(pod)]);
        let isDeleted = false;
        let most = 0;
        const deletion = this.#call([del(pod)]).finally(() => {
          isDeleted = true;
        });
        while (!isDeleted) {
          const start = performance.now();
          await client.request('control_ping', {});
          most = Math.max(most, performance.now() - start);
        }
        await deletion;
        times.push(most);
      }
      return times;
    });
    await client.close();
    return longest;
  }

  async #bare(): Promise<number> {
    const times: number[] = [];
    for (let i = 0; i < BARE_ADDS; i++) {
      const { replayedMs } = await this.#nodes.attach(async (pod) => {
        await this.#call([add(pod)]);
      });
      times.push(replayedMs);
    }
    return median(times);
  }

  async #call(calls: readonly Call[]): Promise<{ readonly start: number; readonly end: number }[]> {
    const [burst, input, cni] = this.#programs;
    const list = join(this.#folder, 'calls');
    const lines = calls.map(
      ({ command, sandbox: { containerId, path, pod } }) =>
        `${command} ${containerId} ${path} ${pod}\n`,
    );
    writeFileSync(list, lines.join(''));
    const { stdout } = await run(burst, [input, cni, list]);
    return stdout
      .trim()
      .split('\n')
      .map((line) => {
        const [start = 0, end = 0, code] = line.split(' ').map(Number);
        if (code !== 0) throw new Error(`contiv-cni ended with ${code}`);
        return { start, end };
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#nodes[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true });
  }
}

const add = (sandbox: Sandbox): Call => ({ command: 'ADD', sandbox });
const del = (sandbox: Sandbox): Call => ({ command: 'DEL', sandbox });

async function* rows(): AsyncGenerator<Row> {
  await using bursts = await Bursts.start();
  const half = CALLS / 2;
  yield await row(`${CALLS} ADDs at once`, () => bursts.burst(0));
  yield await row(`${half} ADDs and ${half} DELs at once`, () => bursts.burst(half));
  yield standstill(await bursts.standstills());
}

/** The ratio is that of a round: the load of the machine differs from one to the next. */
async function row(name: string, burst: () => Promise<Burst>): Promise<Row> {
  const all: Burst[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const one = await burst();
    if (round > 0) all.push(one);
  }
  const bare = median(all.map((one) => one.bare));
  const ratios = all.map((one) => one.last / (CALLS * one.bare));
  const adds = all.flatMap((one) => one.adds);
  const [p50, p99] = [0.5, 0.99].map((of) => seconds(quantile(adds, of)));
  const ratio = median(ratios);
  return {
    name,
    reference: `${CALLS} bare ADDs of ${milliseconds(bare)}`,
    ours: `last ${seconds(median(all.map(({ last }) => last)))}; of an ADD p50 ${p50}, p99 ${p99}`,
    ratio: `${ratio.toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
    target: `ratio ≤ ${TARGET}`,
    met: ratio <= TARGET,
  };
}

function standstill(longest: readonly number[]): Row {
  const p50 = median(longest);
  return {
    name: 'VPP standing still while a pod is deleted',
    reference: '',
    ours: `p50 ${milliseconds(p50)}, longest ${milliseconds(Math.max(...longest))}`,
    ratio: '',
    target: `p50 ≤ ${STANDSTILL_TARGET_MS} ms`,
    met: p50 <= STANDSTILL_TARGET_MS,
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
