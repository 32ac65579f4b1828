/**
 * AddPod on a real VPP, with VETH and AF_PACKET. After each call to the agent of one node, the same
 * messages to VPP and batches to the kernel are replayed on a second node without an agent: the ratio is
 * the cost of the agent. The second node has replayed everything since the start of the first, so
 * both have the same state.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Netns } from '#test/integration/support/netns.ts';
import { vppIn } from '#test/integration/support/netns-vpp.ts';
import { RealNode } from '#test/integration/support/node.ts';
import type { VppProcess } from '#test/integration/support/vpp-process.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { now, type RecordedEntry, type ReplayResult } from './lib/recording.ts';

export const NAME = 'addpod-vpp';

const WARM_UP = 3;
const PAIRS = 20;
/** The recorder waits before it writes, and the agent may have work after the reply. */
const SETTLE_MS = 300;

class ReplayProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(netns: Netns, vpp: VppProcess) {
    const script = fileURLToPath(new URL('lib/replay.ts', import.meta.url));
    const [program = '', ...args] = [...netns.enter, process.execPath, script, vpp.apiSocket];
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface(this.#child.stdout!)[Symbol.asyncIterator]();
  }

  /** @returns milliseconds */
  async replay(
    entries: readonly RecordedEntry[],
    namespaces: Readonly<Record<string, string>>,
  ): Promise<number> {
    this.#child.stdin!.write(`${JSON.stringify({ entries, namespaces })}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the replay failed');
    return (JSON.parse(value) as ReplayResult).ms;
  }

  end(): void {
    this.#child.kill();
  }
}

/** The file of the recorder. */
class RecordingFile {
  readonly file: string;
  #read = 0;

  constructor(file: string) {
    this.file = file;
  }

  /** Entries since the last call. */
  async next(): Promise<RecordedEntry[]> {
    await sleep(SETTLE_MS);
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    const added = lines.slice(this.#read);
    this.#read = lines.length;
    return added.map((line) => JSON.parse(line) as RecordedEntry);
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

export async function run(print: (line: string) => void): Promise<void> {
  if (withoutNodes()) {
    print(`not measured: ${withoutNodes()}`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'addpod-'));
  const recording = new RecordingFile(join(folder, 'recording'));
  const netns = await Netns.create('replay');
  const vpp = vppIn(netns, join(folder, 'vpp'));
  let replayProcess: ReplayProcess | undefined;
  try {
    await using node = await RealNode.create({
      agentEnv: (vppSocket) => ({
        NODE_OPTIONS: `--import=${new URL('lib/recorder.ts', import.meta.url).href}`,
        RECORD_FILE: recording.file,
        RECORD_SOCKET: vppSocket,
      }),
    });
    await vpp.start();
    replayProcess = new ReplayProcess(netns, vpp);
    await node.agent.start();
    await replayProcess.replay(await recording.next(), {});
    await measure(node, recording, replayProcess, print);
  } finally {
    replayProcess?.end();
    await vpp.kill();
    await netns.remove();
    rmSync(folder, { recursive: true });
  }
}

async function measure(
  node: RealNode,
  recording: RecordingFile,
  replayProcess: ReplayProcess,
  print: (line: string) => void,
): Promise<void> {
  const agent: number[] = [];
  const replay: number[] = [];
  let last: readonly RecordedEntry[] = [];
  for (let round = 0; round < WARM_UP + PAIRS; round++) {
    const sandbox = await node.sandbox(`pod-${round}`);
    const mirror = await Netns.create('mirror');
    const namespaces = { [sandbox.path]: mirror.path };

    const start = now();
    await node.attach(sandbox);
    const end = now();
    const entries = await recording.next();
    const during = entries.filter(({ at }) => at >= start && at <= end);
    await replayProcess.replay(
      entries.filter(({ at }) => at < start),
      namespaces,
    );
    const ms = await replayProcess.replay(during, namespaces);
    await replayProcess.replay(
      entries.filter(({ at }) => at > end),
      namespaces,
    );
    if (round >= WARM_UP) {
      agent.push(end - start);
      replay.push(ms);
    }
    last = during;

    const deleted = await node.agent.delete(sandbox);
    if (deleted.result !== 0) throw new Error(deleted.error);
    await replayProcess.replay(await recording.next(), namespaces);
    await sandbox.remove();
    await mirror.remove();
  }
  const kinds = (kind: RecordedEntry['kind']) => last.filter((entry) => entry.kind === kind).length;
  const ratios = agent.map((ms, i) => ms / replay[i]!);
  print(`AddPod: median ${median(agent).toFixed(1)} ms, ${kinds('started')} batches to the kernel`);
  print(`replay without agent: median ${median(replay).toFixed(1)} ms`);
  print(
    `ratio: median ${median(ratios).toFixed(2)}, ` +
      `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}, ${PAIRS} pairs`,
  );
}
