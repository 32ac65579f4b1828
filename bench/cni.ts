/** contiv-cni against an empty program, the agent's part of a call alone, and a whole ADD. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeMessage, kinds, PREFACE } from '#plugins/podmanager/runtime-call/messages.ts';
import { makeNode, startAgent, until } from '#test/cmd/agent/harness.ts';
import { agentWith } from '#test/cmd/cni/stand-in-agent.ts';
import { RealNode } from '#test/integration/support/node.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { buildContivCni } from '../scripts/lib/contiv-cni.ts';
import {
  cniConfig,
  cniVariables,
  type ExecutableCost,
  measureExecutable,
} from './lib/cni-executable.ts';
import type { Print } from './main.ts';

export const NAME = 'cni: contiv-cni against an empty executable, and a whole ADD';

const ROUNDS = 60;

export async function run(print: Print): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-bench-'));
  try {
    await executable(print);
    await server(folder, print);
    const cni = join(folder, 'contiv-cni');
    buildContivCni(cni);
    await wholeAdd(folder, cni, print);
    if (withoutNodes()) print(`whole ADD on VPP: ${withoutNodes()}`);
    else await wholeAddOnVpp(folder, cni, print);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function executable(print: Print): Promise<void> {
  const { empty, cni } = await measureExecutable(200);
  const line = (name: string, { bytes, ms, cpuMs, peakKb }: ExecutableCost) =>
    print(
      `${name}: ${Math.round(bytes / 1e3)} kB, peak memory ${peakKb} kB, ${spread(ms)}, ` +
        `processor p50 ${quantile(cpuMs, 0.5).toFixed(2)} ms`,
    );
  line('empty executable', empty);
  line('contiv-cni, agent replies immediately', cni);
  const above = quantile(cni.ms, 0.5) - quantile(empty.ms, 0.5);
  print(
    `above the empty executable: ${above.toFixed(2)} ms of the medians (target: 5), ` +
      `${cni.peakKb - empty.peakKb} kB (target: 5000)`,
  );
}

/** Processor time of accepting, reading and answering a call, with a service that answers at once. */
async function server(folder: string, print: Print): Promise<void> {
  await using agent = await agentWith({});
  const variables = Object.entries(cniVariables('web', 'c1')).map(
    ([name, value]) => `${name}=${value}`,
  );
  const body = Buffer.from(`${variables.join('\0')}\0\0${cniConfig(folder, agent.socket)}`);
  const bytes = Buffer.concat([PREFACE, encodeMessage(kinds.call, body)]);
  const call = async () => {
    const socket = connect(agent.socket).resume();
    socket.write(bytes);
    await once(socket, 'close');
  };
  const cpuOf = async (calls: number) => {
    const start = process.cpuUsage();
    for (let at = 0; at < calls; at++) await call();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / calls;
  };
  await cpuOf(500);
  print(`server and a client in one process: ${Math.round(await cpuOf(2000))} µs of CPU per call`);
}

async function wholeAdd(folder: string, cni: string, print: Print): Promise<void> {
  await using running = await startAgent(makeNode());
  await until(async () => (await running.get('/readiness')).status === 200);
  const text = cniConfig(folder, running.socket);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const pod = `pod-${round}`;
    running.node.linux.addNamespace(`/run/netns/${pod}`);
    times.push((await call(cni, cniVariables(pod, `c${round}`), text)).ms);
  }
  print(`whole ADD, agent on simulated VPP and Linux: ${spread(times)}`);
}

/** Pods are connected by veth and AF_PACKET. */
async function wholeAddOnVpp(folder: string, cni: string, print: Print): Promise<void> {
  await using node = await RealNode.create();
  await node.agent.start();
  const text = cniConfig(folder, node.agent.cniSocket);
  const calls: Call[] = [];
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const sandbox = await node.sandbox(`pod-${round}`);
    const env = { ...cniVariables(sandbox.pod, sandbox.containerId), CNI_NETNS: sandbox.path };
    const { ms, output } = await call(cni, env, text);
    times.push(ms);
    const config = { ...JSON.parse(text), prevResult: JSON.parse(output) };
    calls.push({ env: { ...env, CNI_COMMAND: 'CHECK' }, config: JSON.stringify(config) });
  }
  print(`whole ADD, agent on VPP, veth: ${spread(times)}`);
  const checks: number[] = [];
  for (const { env, config } of calls) checks.push((await call(cni, env, config)).ms);
  print(`whole CHECK among ${ROUNDS} pods, agent on VPP, veth: ${spread(checks)} (target: 20)`);
}

interface Call {
  readonly env: Record<string, string>;
  readonly config: string;
}

/** @returns milliseconds from start to end, and the output */
async function call(
  file: string,
  env: Record<string, string>,
  input: string,
): Promise<{ readonly ms: number; readonly output: string }> {
  const start = performance.now();
  const child = spawn(file, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined).end(input);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${output}`);
  return { ms: performance.now() - start, output };
}

function spread(times: readonly number[]): string {
  const at = (of: number) => quantile(times, of).toFixed(2);
  return `fastest ${at(0)} ms, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

function quantile(times: readonly number[], of: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(of * sorted.length))]!;
}
