/**
 * ADD of a pod through contiv-cni, on a real VPP with TAPs, against the same messages to VPP and the same
 * work in Linux without agent and executable, in which the kernel moves the link; and the executable alone, against an
 * empty one.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import type { Sandbox } from '#test/integration/support/sandbox.ts';
import { withoutCompiler, withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { buildContivCni } from '../../../scripts/lib/contiv-cni.ts';
import { buildLauncher, cniConfig, cniVariables, measureExecutable } from '../cni-executable.ts';
import { type Attached, ReplayedNode } from '../replayed-node.ts';
import { median, type Part, quantile, ROUNDS, type Row } from './row.ts';

const run = promisify(execFile);

const WARM_UP = 3;
/** p99 is the second longest. */
const ADDS = 150;
const AT_ONCE = 10;
const EXECUTABLE_RUNS = 100;
/** Of p50 and p99 of one ADD, to those of the replay, in which the kernel moves the link. */
const targets = [
  { quantile: 0.5, ratio: 0.8 },
  { quantile: 0.99, ratio: 1 },
] as const;
const AT_ONCE_TARGET = 1.5;
const executableTarget = { ms: 5, kb: 5_000 };

export const podAttach: Part = {
  title: 'pod attach',
  needs: () => withoutNodes() || withoutVhostNet() || withoutCompiler(),
  rows,
};

async function* rows(): AsyncGenerator<Row> {
  yield await executable();
  const folder = mkdtempSync(join(tmpdir(), 'attach-'));
  try {
    const cni = join(folder, 'contiv-cni');
    buildContivCni(cni);
    await using nodes = await ReplayedNode.start();
    const config = cniConfig(folder, nodes.node.agent.cniSocket);
    const launcher = buildLauncher(folder);
    const input = join(folder, 'input.json');
    writeFileSync(input, config);
    const pods: Attached[] = [];
    for (let round = 0; round < WARM_UP + ADDS; round++) {
      let ms = 0;
      const pod = await nodes.attach(async (sandbox) => {
        const env = variables(sandbox);
        const { stdout } = await run(launcher, ['1', input, cni], { env });
        const [, own, , , code] = stdout.split(' ').map(Number);
        if (code !== 0) throw new Error(`contiv-cni ended with ${code}`);
        ms = own!;
      });
      if (round >= WARM_UP) pods.push({ ...pod, ms });
    }
    yield single(pods);
    yield await atOnce(nodes, (sandbox) => call(cni, sandbox, config), pods);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function single(pods: readonly Attached[]): Row {
  const [ours, bare] = [pods.map(({ ms }) => ms), pods.map(({ replayedMs }) => replayedMs)];
  const reached = targets.map((target) => ({
    ...target,
    is: quantile(ours, target.quantile) / quantile(bare, target.quantile),
  }));
  return {
    name: 'pod ADD through the executable, TAP on real VPP',
    reference: `bare ${spread(bare)}`,
    ours: spread(ours),
    ratio: reached.map(({ is }) => is.toFixed(2)).join(', '),
    target: `ratio ≤ ${targets.map(({ ratio }) => ratio).join(', ')}: p50, p99`,
    met: reached.every(({ is, ratio }) => is <= ratio),
  };
}

/** The reference is the median of one pod without agent, ten times. */
async function atOnce(
  { node }: ReplayedNode,
  add: (sandbox: Sandbox) => Promise<void>,
  pods: readonly Attached[],
): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const sandboxes: Sandbox[] = [];
    for (let i = 0; i < AT_ONCE; i++) sandboxes.push(await node.sandbox(`many-${round}-${i}`));
    const start = performance.now();
    await Promise.all(sandboxes.map(add));
    if (round > 0) times.push(performance.now() - start);
    for (const sandbox of sandboxes) {
      const deleted = await node.agent.delete(sandbox);
      if (deleted.result !== 0) throw new Error(deleted.error);
    }
  }
  const bare = AT_ONCE * median(pods.map(({ replayedMs }) => replayedMs));
  const own = median(times);
  return {
    name: `${AT_ONCE} ADDs at once`,
    reference: `bare, serial ${(bare / 1000).toFixed(2)} s`,
    ours: `${(own / 1000).toFixed(2)} s`,
    ratio: (own / bare).toFixed(2),
    target: `ratio ≤ ${AT_ONCE_TARGET}`,
    met: own <= AT_ONCE_TARGET * bare,
  };
}

async function executable(): Promise<Row> {
  const { empty, cni } = await measureExecutable(EXECUTABLE_RUNS);
  const above = {
    ms: median(cni.ms) - median(empty.ms),
    kb: cni.peakKb - empty.peakKb,
  };
  const text = ({ bytes, ms, peakKb }: typeof cni) =>
    `${Math.round(bytes / 1e3)} kB file, ${(peakKb / 1e3).toFixed(1)} MB memory, ${median(ms).toFixed(2)} ms`;
  return {
    name: 'contiv-cni alone',
    reference: `empty executable ${text(empty)}`,
    ours: text(cni),
    ratio: '',
    target: '≤ 5 ms and ≤ 5 MB above an empty executable',
    met: above.ms <= executableTarget.ms && above.kb <= executableTarget.kb,
  };
}

function variables({ pod, containerId, path }: Sandbox): NodeJS.ProcessEnv {
  return { ...cniVariables(pod, containerId), CNI_NETNS: path };
}

/** One process of contiv-cni, as the container runtime runs it. */
async function call(cni: string, sandbox: Sandbox, config: string): Promise<void> {
  const child = spawn(cni, { env: variables(sandbox), stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.on('error', () => undefined).end(config);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`contiv-cni ended with ${code}`);
}

const spread = (times: readonly number[]): string =>
  `p50 ${Math.round(quantile(times, 0.5))} ms, p99 ${Math.round(quantile(times, 0.99))} ms`;
