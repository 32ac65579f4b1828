/** An agent in a process of its own, and what its clients see while it is attacked. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CniClient } from '#demonstration/cni-client.ts';
import { call } from '#test/infra/http/authentication/client.ts';
import { programFile } from '#test/support/program-command.ts';
import { until } from '#test/support/wait.ts';
import type { Attack } from './attack.ts';

const main = programFile('agent');
const attacker = join(import.meta.dirname, 'attacker.ts');

/** Memory limit of the container in deploy/. */
export const DEPLOYED_LIMIT_MIB = 512;

/** Longer than a start takes on a machine with much other work. */
const START_MS = 60_000;
/** Characters of its last words that are shown when the agent has ended. */
const MAX_SAID = 2_000;

/** Milliseconds of each call, sorted. */
export type Times = readonly number[];

export interface Observed {
  readonly liveness: Times;
  /** Of ADD and DEL, one after the other. */
  readonly cni: Times;
  /** Milliseconds by which the event loop of the agent was late. */
  readonly loop: { readonly mean: number; readonly p99: number; readonly longest: number };
  /** Milliseconds in which the main thread of the agent could run, but other programs did. */
  readonly waited: number;
  /** MiB. */
  readonly memory: { readonly before: number; readonly peak: number };
}

export const median = (times: Times): number => times[times.length >> 1]!;
export const longest = (times: Times): number => times.at(-1)!;

export function lines({ liveness, cni, loop, waited, memory }: Observed): string[] {
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const both = (times: Times) =>
    `median ${ms(median(times))}, longest ${ms(longest(times))} of ${times.length}`;
  return [
    `/liveness: ${both(liveness)}; CNI DEL or ADD: ${both(cni)}`,
    `event loop: late by ${ms(loop.mean)} on average, 99 % by ${ms(loop.p99)}, at most ${ms(loop.longest)}; waited ${ms(waited)} for a CPU`,
    `memory: ${memory.before.toFixed(0)} MiB before, at most ${memory.peak.toFixed(0)} MiB`,
  ];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

type Attachment = Parameters<CniClient['add']>[0];

export class AttackedAgent {
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #port: number;
  readonly #cni: CniClient;
  #attachment: Attachment = {};
  #said = '';

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    // The heap that Node.js allows in a container with the memory limit of the deployment. The other
    // flags are in the first line of the program.
    const NODE_OPTIONS = `--max-old-space-size=${DEPLOYED_LIMIT_MIB / 2}`;
    this.#process = spawn(main, ['--embedded', '--http-port', `${port}`], {
      env: { ...process.env, NODE_OPTIONS, TMPDIR: folder },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // Why Node.js ended, for example: out of memory.
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-MAX_SAID);
    });
    this.#cni = new CniClient(
      join(folder, `contiv-vswitch-${process.getuid!()}`, 'vpp1', 'cni.sock'),
    );
  }

  static async start(): Promise<AttackedAgent> {
    const folder = mkdtempSync(join(tmpdir(), 'attacks-'));
    const agent = new AttackedAgent(folder, await freePort());
    try {
      await agent.ready();
      agent.#attachment = await agent.#existingPod();
    } catch (error) {
      await agent.stop();
      throw error;
    }
    return agent;
  }

  async stop(): Promise<void> {
    this.#cni.close();
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const exit = once(this.#process, 'exit');
      this.#process.kill('SIGTERM');
      await exit;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async ready(): Promise<void> {
    const isReady = () => this.#probe('readiness').catch(() => false);
    await until('the agent is ready', isReady, START_MS);
  }

  async observe(attack: Attack, ms: number): Promise<Observed> {
    for (const call of [() => this.#delete(), () => this.#add()]) await call();
    const before = this.#memory();
    let peak = before;
    const waitedBefore = this.#waited();
    // The figures of the event loop begin again with each collection.
    await this.#loop();
    const args = [attacker, `${this.#port}`, JSON.stringify(attack)];
    const child = spawn('node', args, { stdio: 'inherit' });
    const exit = once(child, 'exit');
    const end = AbortSignal.timeout(ms);
    let isAdded = true;
    try {
      const [liveness, cni] = await Promise.all([
        timed(() => this.#probe('liveness'), end),
        timed(async () => {
          await (isAdded ? this.#delete() : this.#add());
          isAdded = !isAdded;
        }, end),
        timed(async () => {
          peak = Math.max(peak, this.#memory());
        }, end),
      ]);
      const waited = this.#waited() - waitedBefore;
      return { liveness, cni, loop: await this.#loop(), waited, memory: { before, peak } };
    } finally {
      child.kill('SIGKILL');
      await exit;
      if (!isAdded) await this.#add();
    }
  }

  async #probe(name: 'liveness' | 'readiness'): Promise<boolean> {
    const options = { headers: { connection: 'close' }, signal: AbortSignal.timeout(30_000) };
    return (await fetch(`http://127.0.0.1:${this.#port}/${name}`, options)).ok;
  }

  /** A pod of the embedded kubelet, as the history describes its attachment. */
  async #existingPod(): Promise<Attachment> {
    const described = /Add Pod (\S+?)\\n\* Container: (\w+)\\n\* Network namespace: ([\w/.-]+)/;
    let found: RegExpExecArray | null = null;
    await until(
      'a pod is attached',
      async () => {
        const response = await fetch(`http://127.0.0.1:${this.#port}/controller/event-history`);
        found = described.exec(JSON.stringify(await response.json()));
        return found !== null;
      },
      START_MS,
    );
    const [, pod, id = '', path = ''] = found!;
    const [namespace, name] = pod!.split('/');
    return {
      version: '0.3.1',
      container_id: id,
      network_namespace: path,
      interface_name: 'eth0',
      extra_arguments: `K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name}`,
    };
  }

  async #delete(): Promise<void> {
    assert.equal((await this.#cni.delete(this.#attachment)).result, 0);
  }

  async #add(): Promise<void> {
    assert.equal((await this.#cni.add(this.#attachment)).result, 0);
  }

  #memory(): number {
    const { pid, exitCode, signalCode } = this.#process;
    const ending = exitCode ?? signalCode;
    assert.equal(ending, null, `the agent ended with ${ending}: ${this.#said}`);
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    // A process that is ending has no memory any more.
    return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024;
  }

  /** Milliseconds since its start in which other programs took the place of its main thread. */
  #waited(): number {
    const [, waited] = readFileSync(`/proc/${this.#process.pid}/schedstat`, 'utf8').split(' ');
    return Number(waited) / 1e6;
  }

  /** How late the event loop was since the last call, from the metrics of Node.js. */
  async #loop(): Promise<Observed['loop']> {
    const socketPath = join(
      this.#folder,
      `contiv-vswitch-${process.getuid!()}`,
      'vpp1',
      'agent.sock',
    );
    // A collection within a second is that of before.
    await sleep(1_100);
    const { text } = await call({ socketPath, path: '/metrics' });
    const value = (name: string) =>
      1_000 *
      Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)`, 'm').exec(text)![1]);
    return { mean: value('mean'), p99: value('p99'), longest: value('max') };
  }
}

/** One call after the other, until the signal. */
async function timed(action: () => Promise<unknown>, end: AbortSignal): Promise<Times> {
  const times: number[] = [];
  while (!end.aborted) {
    const start = performance.now();
    await action();
    times.push(performance.now() - start);
    await sleep(20);
  }
  return times.sort((a, b) => a - b);
}
