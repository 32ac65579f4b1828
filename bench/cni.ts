/**
 * contiv-cni, one process per call, as the container runtime runs it. The reference is an empty
 * single executable; both run in turn.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeNode, startAgent, until } from '#test/cmd/agent/harness.ts';
import { RealNode } from '#test/integration/support/node.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { buildExecutable } from '../scripts/lib/single-executable.ts';
import type { Print } from './main.ts';

export const NAME = 'cni: contiv-cni against an empty executable, and a whole ADD';

const ROUNDS = 60;

export async function run(print: Print): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-bench-'));
  try {
    const source = join(folder, 'empty.ts');
    writeFileSync(source, '');
    const [empty, cni] = [join(folder, 'empty'), join(folder, 'contiv-cni')];
    await buildExecutable(source, empty);
    await buildExecutable(join(import.meta.dirname, '../src/cmd/cni/main.ts'), cni);
    await overhead(folder, empty, cni, print);
    await wholeAdd(folder, cni, print);
    if (withoutNodes()) print(`whole ADD on VPP: ${withoutNodes()}`);
    else await wholeAddOnVpp(folder, cni, print);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** With an agent that replies immediately: measures the executable alone. */
async function overhead(folder: string, empty: string, cni: string, print: Print): Promise<void> {
  const socket = join(folder, 'agent.sock');
  const body = '{"interfaces":[],"routes":[]}';
  const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const server = createServer((connection) => {
    connection.once('data', () => connection.end(answer));
  }).listen(socket);
  const reference: number[] = [];
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    reference.push(await call(empty, {}, ''));
    times.push(await call(cni, variables('x', `c${round}`), config(folder, socket)));
  }
  server.close();
  print(`empty executable: ${spread(reference)}`);
  print(`contiv-cni, agent replies immediately: ${spread(times)}`);
  const ratio = (of: number) => (quantile(times, of) / quantile(reference, of)).toFixed(2);
  print(`ratio of the fastest ${ratio(0)}, of the medians ${ratio(0.5)} (target: 1.3)`);
}

async function wholeAdd(folder: string, cni: string, print: Print): Promise<void> {
  await using running = await startAgent(makeNode());
  await until(async () => (await running.get('/readiness')).status === 200);
  const text = config(folder, running.socket);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const pod = `pod-${round}`;
    running.node.linux.addNamespace(`/run/netns/${pod}`);
    times.push(await call(cni, variables(pod, `c${round}`), text));
  }
  print(`whole ADD, agent on simulated VPP and Linux: ${spread(times)}`);
}

/** Pods are connected by veth and AF_PACKET. */
async function wholeAddOnVpp(folder: string, cni: string, print: Print): Promise<void> {
  await using node = await RealNode.create();
  await node.agent.start();
  const text = config(folder, node.agent.cniSocket);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const sandbox = await node.sandbox(`pod-${round}`);
    const env = { ...variables(sandbox.pod, sandbox.containerId), CNI_NETNS: sandbox.path };
    times.push(await call(cni, env, text));
  }
  print(`whole ADD, agent on VPP, veth: ${spread(times)}`);
}

function variables(pod: string, container: string): Record<string, string> {
  return {
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: container,
    CNI_IFNAME: 'eth0',
    CNI_NETNS: `/run/netns/${pod}`,
    CNI_ARGS: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`,
  };
}

function config(folder: string, grpcServer: string): string {
  const logFile = join(folder, 'cni.log');
  return JSON.stringify({ cniVersion: '1.0.0', name: 'k8s', grpcServer, logFile });
}

/** @returns milliseconds from start to end */
async function call(file: string, env: Record<string, string>, input: string): Promise<number> {
  const start = performance.now();
  const child = spawn(file, { env, stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.on('error', () => undefined).end(input);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
  return performance.now() - start;
}

function spread(times: readonly number[]): string {
  const at = (of: number) => quantile(times, of).toFixed(1);
  return `fastest ${at(0)} ms, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

function quantile(times: readonly number[], of: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(of * sorted.length))]!;
}
