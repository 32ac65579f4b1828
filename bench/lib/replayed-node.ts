/**
 * A node with its agent, and a second one without an agent, on which the same messages to VPP and the same
 * batches to the kernel are replayed: the difference is the cost of the agent. The second node has replayed
 * everything since the start of the first, so both have the same state.
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
import type { Sandbox } from '#test/integration/support/sandbox.ts';
import type { VppProcess } from '#test/integration/support/vpp-process.ts';
import { now, type RecordedEntry, type ReplayResult } from './recording.ts';

/** The recorder waits before it writes, and the agent may have work after the reply. */
const SETTLE_MS = 300;

class ReplayProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(netns: Netns, vpp: VppProcess) {
    const script = fileURLToPath(new URL('replay.ts', import.meta.url));
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

export interface Attached {
  /** Until the call has been answered. */
  readonly ms: number;
  /** Of the same messages and batches without an agent. */
  readonly replayedMs: number;
  /** Batches to the kernel. */
  readonly batches: number;
}

export class ReplayedNode implements AsyncDisposable {
  readonly node: RealNode;
  readonly #folder: string;
  readonly #netns: Netns;
  readonly #vpp: VppProcess;
  readonly #recording: RecordingFile;
  readonly #replayed: ReplayProcess;
  #pods = 0;

  static async start(): Promise<ReplayedNode> {
    const folder = mkdtempSync(join(tmpdir(), 'addpod-'));
    const recording = new RecordingFile(join(folder, 'recording'));
    const netns = await Netns.create('replay');
    const vpp = vppIn(netns, join(folder, 'vpp'));
    const node = await RealNode.create({
      agentEnv: (vppSocket) => ({
        NODE_OPTIONS: `--import=${new URL('recorder.ts', import.meta.url).href}`,
        RECORD_FILE: recording.file,
        RECORD_SOCKET: vppSocket,
      }),
    });
    await vpp.start();
    const started = new ReplayedNode(node, folder, netns, vpp, recording);
    try {
      await node.agent.start();
      await started.#replayed.replay(await recording.next(), {});
      return started;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(
    node: RealNode,
    folder: string,
    netns: Netns,
    vpp: VppProcess,
    recording: RecordingFile,
  ) {
    this.node = node;
    this.#folder = folder;
    this.#netns = netns;
    this.#vpp = vpp;
    this.#recording = recording;
    this.#replayed = new ReplayProcess(netns, vpp);
  }

  /**
   * Attaches a new pod, replays what the agent did meanwhile, and detaches it on both nodes.
   * @param attach returns when the call has been answered
   */
  async attach(attach: (sandbox: Sandbox) => Promise<void>): Promise<Attached> {
    const sandbox = await this.node.sandbox(`pod-${this.#pods++}`);
    const mirror = await Netns.create('mirror');
    const namespaces = { [sandbox.path]: mirror.path };
    const replay = (part: readonly RecordedEntry[]) => this.#replayed.replay(part, namespaces);
    // the kernel still removes the namespaces of the pod before, for which all changes of links wait
    await sleep(SETTLE_MS);

    const start = now();
    await attach(sandbox);
    const end = now();
    const entries = await this.#recording.next();
    const during = entries.filter(({ at }) => at >= start && at <= end);
    for (const kind of ['sent', 'received', 'started'])
      if (!during.some((entry) => entry.kind === kind)) throw new Error(`nothing was ${kind}`);
    await replay(entries.filter(({ at }) => at < start));
    const replayedMs = await replay(during);
    await replay(entries.filter(({ at }) => at > end));

    const deleted = await this.node.agent.delete(sandbox);
    if (deleted.result !== 0) throw new Error(deleted.error);
    await replay(await this.#recording.next());
    await sandbox.remove();
    await mirror.remove();
    const batches = during.filter(({ kind }) => kind === 'started').length;
    return { ms: end - start, replayedMs, batches };
  }

  /**
   * Makes sandboxes, replays what the agent did until the work has ended, and removes them.
   * @param work attaches and detaches each of them
   */
  async together<T>(number: number, work: (pods: readonly Sandbox[]) => Promise<T>): Promise<T> {
    const pods: Sandbox[] = [];
    const mirrors: Netns[] = [];
    const namespaces: Record<string, string> = {};
    for (let i = 0; i < number; i++) {
      const pod = await this.node.sandbox(`pod-${this.#pods++}`);
      const mirror = await Netns.create('mirror');
      namespaces[pod.path] = mirror.path;
      pods.push(pod);
      mirrors.push(mirror);
    }
    await sleep(SETTLE_MS);
    const result = await work(pods);
    await this.#replayed.replay(await this.#recording.next(), namespaces);
    for (const one of [...pods, ...mirrors]) await one.remove();
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#replayed.end();
    await this.#vpp.kill();
    await this.node[Symbol.asyncDispose]();
    await this.#netns.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
