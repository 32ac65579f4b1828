/**
 * Clients without credentials that try to take the main thread or the memory of the agent. The agent
 * and the attacker are processes of their own.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CniClient } from '#cmd/agent/cni-client.ts';
import { until } from '#test/support/wait.ts';

const main = resolve(import.meta.dirname, '../../../src/cmd/agent/main.ts');
const attacker = join(import.meta.dirname, 'attacker.ts');
const ATTACK_MS = 1_500;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

describe('an agent under attack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'attacks-'));
  let agent: ChildProcess;
  let cni: CniClient;
  let port = 0;
  let attachment: Awaited<ReturnType<typeof existingPod>>;

  before(async () => {
    port = await freePort();
    const args = ['--max-semi-space-size=8', main, '--embedded', '--http-port', `${port}`];
    agent = spawn(process.execPath, args, {
      env: { ...process.env, TMPDIR: folder },
      cwd: folder,
      stdio: 'ignore',
    });
    await until('the agent is ready', () => probe('readiness').catch(() => false));
    cni = new CniClient(join(folder, 'contiv-vswitch', 'vpp1', 'cni.sock'));
    attachment = await existingPod();
  });

  after(async () => {
    cni.close();
    const exit = once(agent, 'exit');
    agent.kill('SIGTERM');
    await exit;
    rmSync(folder, { recursive: true, force: true });
  });

  async function probe(name: 'liveness' | 'readiness'): Promise<boolean> {
    const options = { headers: { connection: 'close' }, signal: AbortSignal.timeout(30_000) };
    return (await fetch(`http://127.0.0.1:${port}/${name}`, options)).ok;
  }

  /** A pod of the embedded kubelet, as the history describes its attachment. */
  async function existingPod() {
    const described = /Add Pod (\S+?)\\n\* Container: (\w+)\\n\* Network namespace: ([\w/.-]+)/;
    let found: RegExpExecArray | null = null;
    await until('a pod is attached', async () => {
      const response = await fetch(`http://127.0.0.1:${port}/controller/event-history`);
      found = described.exec(JSON.stringify(await response.json()));
      return found !== null;
    });
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

  async function deleteAndAdd(): Promise<void> {
    assert.equal((await cni.delete(attachment)).result, 0);
    assert.equal((await cni.add(attachment)).result, 0);
  }

  function memory(): number {
    const text = readFileSync(`/proc/${agent.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(text)![1]) / 1024;
  }

  /** Milliseconds of each call, one after the other, until the signal. */
  async function timed(call: () => Promise<unknown>, end: AbortSignal): Promise<number[]> {
    const times: number[] = [];
    while (!end.aborted) {
      const start = performance.now();
      await call();
      times.push(performance.now() - start);
      await sleep(20);
    }
    return times.sort((a, b) => a - b);
  }

  async function attacked(t: TestContext, ...args: string[]): Promise<void> {
    await deleteAndAdd();
    const before = memory();
    let peak = before;
    const process = spawn('node', [attacker, `${port}`, ...args], { stdio: 'inherit' });
    const exit = once(process, 'exit');
    const end = AbortSignal.timeout(ATTACK_MS);
    try {
      const [liveness, requests] = await Promise.all([
        timed(() => probe('liveness'), end),
        timed(deleteAndAdd, end),
        timed(async () => {
          peak = Math.max(peak, memory());
        }, end),
      ]);
      const numbers = (times: readonly number[]) =>
        `median ${times[times.length >> 1]!.toFixed(0)} ms, longest ${times.at(-1)!.toFixed(0)} ms`;
      t.diagnostic(`/liveness: ${numbers(liveness)}; CNI DEL and ADD: ${numbers(requests)}`);
      t.diagnostic(`memory: ${before.toFixed(0)} MiB before, at most ${peak.toFixed(0)} MiB`);
      assert.ok(liveness[liveness.length >> 1]! < 500, 'the median of /liveness is below 500 ms');
      assert.ok(requests[requests.length >> 1]! < 10_000, 'kubelet gets its replies');
      assert.ok(peak < 1.5 * before, `memory ${peak} MiB, before ${before} MiB`);
    } finally {
      process.kill('SIGKILL');
      await exit;
    }
    await until('the agent is ready', () => probe('readiness'));
  }

  /** The address of another machine, as far as the agent can tell. */
  const pod = '127.0.0.2';
  const attacks = {
    '2,000 requests for metrics at once on one connection': [pod, '/metrics', '1', '2000'],
    '2,000 requests for metrics at once on each of ten connections': [
      pod,
      '/metrics',
      '10',
      '2000',
    ],
    'the same from the machine itself': ['127.0.0.1', '/metrics', '10', '2000'],
    'ten clients that do not read the metrics they request': [
      pod,
      '/metrics',
      '10',
      '60',
      '--deaf',
    ],
    'fifty clients that request the state of the scheduler': [
      pod,
      '/scheduler/dump?view=SB',
      '50',
      '20',
    ],
    'fifty clients that request the history of transactions and do not read it': [
      pod,
      '/scheduler/txn-history',
      '50',
      '20',
      '--deaf',
    ],
    'fifty clients that request the picture of the graph': [pod, '/scheduler/graph', '50', '20'],
    'fifty clients that send probes': [pod, '/liveness', '50', '60'],
    'a hundred clients that send probes': [pod, '/liveness', '100', '2000'],
  };
  for (const [title, args] of Object.entries(attacks)) it(title, (t) => attacked(t, ...args));
});
