/**
 * Flows: 2,000 new connections a second, which a process opens to itself and closes: what the agent needs to record them, what is
 * lost, and its memory; and what the programs cost the process, against the same calls outside of their control group. For ten
 * seconds, or `-- flows --seconds=600`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Registry } from 'prom-client';
import { flowsDefaults } from '#flows/config.ts';
import { Peers } from '#flows/peers.ts';
import { type WiredFlows, wireFlows } from '#flows/wire-flows.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type { FlowSource } from '#linux/socket-flows/api.ts';
import { openFlowSource } from '#linux/socket-flows/open.ts';
import { HealingResync } from '#plugins/controller/api/events.ts';
import { Netns } from '#test/integration/support/netns.ts';
import { SysFs } from '#test/integration/support/sys-fs.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import type { Print } from './main.ts';

export const NAME = 'flows';

const RATE = 2_000;
const DEFAULT_SECONDS = 10;
const RECORDS = 50_000;
/** The agent reads four times a second. */
const READ_MS = 1_000;
const SAMPLES = 5;

export async function run(print: Print): Promise<void> {
  const reason = withoutSocketHooks();
  if (reason) {
    print(reason);
    return;
  }
  const seconds = Number(
    process.argv.find((word) => word.startsWith('--seconds='))?.split('=')[1] ?? DEFAULT_SECONDS,
  );
  const sysFs = new SysFs();
  const namespace = await Netns.create('flows');
  try {
    await namespace.run('ip', 'address', 'add', '10.1.1.1/32', 'dev', 'lo');
    const outside = await load(namespace, undefined, seconds);
    const connections = kernelHost({ clock: systemClock });
    const source = openFlowSource(sysFs.path, {
      hostNamespace: undefined,
      connections,
      clock: systemClock,
    });
    const flows = startedFlows(source);
    try {
      const memory: number[] = [];
      const timer = setInterval(
        () => memory.push(process.memoryUsage().rss),
        (seconds * 1_000) / SAMPLES,
      );
      const [start, begun] = [process.cpuUsage(), performance.now()];
      const inside = await load(namespace, sysFs.group, seconds);
      await systemClock.sleep(READ_MS);
      const { user, system } = process.cpuUsage(start);
      const elapsedMs = performance.now() - begun;
      clearInterval(timer);
      const used = (user + system) / 1_000;
      let [records, ended] = [0, 0];
      for (const flow of flows.flows()) {
        records++;
        if (flow.ended !== undefined) ended++;
      }
      print(
        `${inside.connections} connections in ${seconds} s, both ends seen: ${Math.round(inside.connections / seconds)} a second; ` +
          `${source.lost()} events lost; ${records} records in memory, ${ended} of them with their end`,
      );
      print(
        `the agent: ${((used / elapsedMs) * 100).toFixed(1)} % of a processor, ${((used * 1_000) / inside.connections).toFixed(0)} µs a connection`,
      );
      print(
        `the process: ${inside.cpuUs.toFixed(1)} µs a connection with the programs, ${outside.cpuUs.toFixed(1)} without: ${(inside.cpuUs / outside.cpuUs).toFixed(2)} times`,
      );
      print(`memory: ${memory.map((one) => `${Math.round(one / 2 ** 20)} MiB`).join(', ')}`);
    } finally {
      for (const { close } of flows.components) await close?.();
      source.remove();
    }
  } finally {
    await namespace.remove();
    sysFs[Symbol.dispose]();
  }
}

function startedFlows(source: FlowSource): WiredFlows {
  const peers = new Peers({
    label: 'node1',
    kubeState: () => new Map(),
    nodes: { allNodes: () => new Map() },
    ipam: { allocations: () => new Map() },
    hostLinkOwner: () => () => undefined,
    shortenOutsideAddresses: false,
  });
  peers.observe(HealingResync.event({ type: 'after-error', error: 'a measurement' }));
  const flows = wireFlows({
    label: 'node1',
    config: { ...flowsDefaults, flowRecords: RECORDS },
    source,
    isSimulated: false,
    peers,
    findReason: async () => undefined,
    registry: new Registry(),
    clock: systemClock,
    log: silentLogger,
  });
  for (const { afterInit } of flows.components) void afterInit?.();
  return flows;
}

interface Load {
  readonly connections: number;
  /** Of the process, for one connection. */
  readonly cpuUs: number;
}

/** @param group that the process enters; undefined: none with programs */
async function load(namespace: Netns, group: string | undefined, seconds: number): Promise<Load> {
  const [command, ...args] = [
    ...namespace.enter,
    'python3',
    '-c',
    PYTHON,
    group ?? '',
    String(seconds),
    String(RATE),
  ];
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await once(child, 'close');
  const [connections = 0, cpuUs = 0] = text.trim().split(' ').map(Number);
  return { connections, cpuUs };
}

/** In bursts of 10 ms; a machine that is too slow opens fewer. */
const PYTHON = `
import os, socket, sys, time
group, seconds, rate = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
if group: open(group + '/cgroup.procs', 'w').write(str(os.getpid()))
server = socket.socket(); server.bind(('10.1.1.1', 0)); server.listen(64)
address = server.getsockname()
count = 0
start = time.monotonic(); cpu = time.process_time()
while True:
  now = time.monotonic() - start
  if now >= seconds: break
  due = int(now * rate)
  if count >= due: time.sleep(0.01); continue
  client = socket.socket(); client.connect(address)
  accepted, _ = server.accept()
  client.sendall(b'x' * 100); accepted.recv(100)
  client.close(); accepted.recv(1); accepted.close()
  count += 1
print(count, (time.process_time() - cpu) * 1e6 / max(count, 1))
`;
