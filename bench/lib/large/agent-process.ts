/** The process of the agent of a large cluster, as its parent sees it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { cpuSecondsOf } from '#test/integration/support/process-cpu.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { agentFlags } from '../subprocess.ts';
import { OWN_NODE, podRecord, podsOf } from './large-records.ts';
import type {
  LargeAgentArgs,
  LargeAgentReady,
  LargeAgentReport,
  LargeAgentRequest,
  StormReport,
} from './messages.ts';

const MAIN = new URL('./large-agent.ts', import.meta.url);

export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
}

export class LargeAgent implements AsyncDisposable {
  readonly #child: ReturnType<typeof fork>;
  readonly ready: Promise<LargeAgentReady>;
  #port = 0;

  constructor(etcdPorts: readonly number[]) {
    const folder = temporaryFolder('large-agent');
    const args: LargeAgentArgs = { etcdPorts, folder };
    const log = openSync(join(folder, 'agent.log'), 'a');
    this.#child = fork(MAIN, [JSON.stringify(args)], {
      execArgv: [...agentFlags, ...profilerFlags()],
      stdio: ['ignore', log, 'inherit', 'ipc'],
    });
    this.ready = this.#next<LargeAgentReady>().then((ready) => {
      this.#port = ready.port;
      return ready;
    });
  }

  /** Writes the records of its pods, which have their addresses of it. */
  async announcePods(etcd: EtcdServer): Promise<void> {
    const store = etcd.store(etcd.port, 60_000);
    await store.putAll(new Map(podsOf(OWN_NODE).map((pod) => podRecord(pod, 0))));
    await store.close();
  }

  get cpuSeconds(): number {
    return cpuSecondsOf(this.#child.pid!);
  }

  get residentMib(): number {
    return residentMib(this.#child.pid!);
  }

  report(request: 'report' | 'collect'): Promise<LargeAgentReport> {
    return this.#ask(request);
  }

  storm(): Promise<StormReport> {
    return this.#ask('storm');
  }

  async #ask<Reply>(request: LargeAgentRequest): Promise<Reply> {
    const reply = this.#next<Reply>();
    this.#child.send(request);
    return await reply;
  }

  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(1_000);
    const reply = await fetch(`http://127.0.0.1:${this.#port}/readiness`, { signal }).catch(
      () => undefined,
    );
    await reply?.body?.cancel();
    return reply?.status === 200;
  }

  async #next<Message>(): Promise<Message> {
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const failed = (code: number | null) =>
      reject(new Error(`the process of the agent ended with exit code ${code}`));
    this.#child.once('message', resolve).once('exit', failed);
    return await promise.finally(() => this.#child.off('exit', failed));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    await exit;
  }
}

/** `--cpu-prof=<folder>` writes a profile of the agent there. */
function profilerFlags(): string[] {
  const option = process.argv.find((word) => word.startsWith('--cpu-prof='));
  return option ? ['--cpu-prof', `--cpu-prof-dir=${option.slice('--cpu-prof='.length)}`] : [];
}
