/**
 * Flows: 2,000 new connections a second between two network namespaces: what the agent needs to record them, what is lost, and
 * its memory; and what the programs cost for a connection, and for a packet of UDP and of TCP, against the same outside of
 * their control group in the same run. For a minute, or `-- flows --seconds=600`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
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
import type { ExchangeKind, LoadPlace, LoadReply, LoadRequest } from './lib/connection-load.ts';
import { median } from './lib/floor/row.ts';
import type { Print } from './main.ts';

export const NAME = 'flows';

const RATE = 2_000;
const DEFAULT_SECONDS = 60;
const REFERENCE_SECONDS = 10;
const RECORDS = 50_000;
/** The agent reads four times a second. */
const READ_MS = 1_000;
const SAMPLES = 6;
const ROUNDS = 41;
const ROUND_TRIPS = 4_000;
const ADDRESS = '10.77.0.2';
const exchanges: readonly ExchangeKind[] = ['UDP', 'connected UDP', 'TCP'];

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
  const client = await Netns.create('clients');
  const server = await Netns.create('servers');
  const loads: Load[] = [];
  try {
    await connect(client, server);
    const at = { client: client.path, server: server.path, address: ADDRESS };
    const outside = await Load.start({ ...at, group: '', port: 8_000 });
    loads.push(outside);
    const connections = kernelHost({ clock: systemClock });
    const source = openFlowSource(sysFs.path, {
      hostNamespace: undefined,
      connections,
      clock: systemClock,
    });
    const flows = startedFlows(source);
    try {
      const inside = await Load.start({ ...at, group: sysFs.group, port: 9_000 });
      loads.push(inside);
      await manyConnections({ source, flows, inside, outside, seconds, print });
      for (const kind of exchanges) print(await packets(kind, outside, inside));
    } finally {
      for (const { close } of flows.components) await close?.();
      source.remove();
    }
  } finally {
    for (const load of loads) await load.end();
    for (const namespace of [client, server]) await namespace.remove();
    sysFs[Symbol.dispose]();
  }
}

interface ManyConnections {
  readonly source: FlowSource;
  readonly flows: WiredFlows;
  readonly inside: Load;
  readonly outside: Load;
  readonly seconds: number;
  readonly print: Print;
}

async function manyConnections(all: ManyConnections): Promise<void> {
  const { source, flows, inside, outside, seconds, print } = all;
  const reference = await outside.ask({
    do: 'connections',
    rate: RATE,
    seconds: Math.min(seconds, REFERENCE_SECONDS),
  });
  const memory: number[] = [];
  const timer = setInterval(
    () => memory.push(process.memoryUsage().rss),
    (seconds * 1_000) / SAMPLES,
  );
  const delay = monitorEventLoopDelay();
  delay.enable();
  const [start, begun] = [process.cpuUsage(), performance.now()];
  const { count, each } = await inside.ask({ do: 'connections', rate: RATE, seconds });
  await systemClock.sleep(READ_MS);
  const { user, system } = process.cpuUsage(start);
  const elapsedMs = performance.now() - begun;
  clearInterval(timer);
  delay.disable();
  const usedMs = (user + system) / 1_000;
  let [records, ended] = [0, 0];
  for (const flow of flows.flows()) {
    records++;
    if (flow.ended !== undefined) ended++;
  }
  print(
    `${count} connections in ${seconds} s, both ends seen: ${Math.round(count / seconds)} a second; ` +
      `${source.lost()} of ${4 * count} events lost; ${records} records in memory, ${ended} of them with their end`,
  );
  print(
    `the agent: ${((usedMs / elapsedMs) * 100).toFixed(1)} % of a processor, ${((usedMs * 1_000) / count).toFixed(0)} µs a connection; longest time without a turn ${Math.round(delay.max / 1e6)} ms`,
  );
  print(
    `a connection: ${microseconds(each)} of the processor with the programs, ${microseconds(reference.each)} without: ${(each / reference.each).toFixed(2)} times`,
  );
  print(
    `memory of the agent: ${memory.map((one) => `${Math.round(one / 2 ** 20)} MiB`).join(', ')}`,
  );
}

/** Both take turns. */
async function packets(kind: ExchangeKind, outside: Load, inside: Load): Promise<string> {
  const ask = async (load: Load): Promise<number> =>
    (await load.ask({ do: 'exchange', kind, count: ROUND_TRIPS })).each;
  const without: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const reference = await ask(outside);
    without.push(reference);
    ratios.push((await ask(inside)) / reference);
  }
  const sorted = ratios.sort((a, b) => a - b);
  const [low, high] = [0.25, 0.75].map((part) => sorted[Math.floor(part * ROUNDS)]!.toFixed(2));
  return (
    `a packet of ${kind}, sent and received: ${microseconds(median(without))} of the processor without the programs; ` +
    `with them ${median(ratios).toFixed(2)} times (${low} to ${high}; ${ROUNDS} pairs of ${2 * ROUND_TRIPS})`
  );
}

function microseconds(nanoseconds: number): string {
  return `${(nanoseconds / 1_000).toFixed(1)} µs`;
}

async function connect(client: Netns, server: Netns): Promise<void> {
  const peer = ['type', 'veth', 'peer', 'name', 'servers', 'netns', server.name];
  await client.run('ip', 'link', 'add', 'clients', ...peer);
  for (const [namespace, link, address] of [
    [client, 'clients', '10.77.0.1'],
    [server, 'servers', ADDRESS],
  ] as const) {
    await namespace.run('ip', 'address', 'add', `${address}/24`, 'dev', link);
    await namespace.run('ip', 'link', 'set', link, 'up');
  }
}

/** A process that makes connections. */
class Load {
  readonly #child: ChildProcess;

  static async start(place: LoadPlace): Promise<Load> {
    const program = join(import.meta.dirname, 'lib/connection-load.ts');
    const child = spawn(process.execPath, [program, JSON.stringify(place)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await once(child, 'message');
    return new Load(child);
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  async ask(request: LoadRequest): Promise<LoadReply> {
    this.#child.send(request);
    const [reply] = (await once(this.#child, 'message')) as [LoadReply];
    return reply;
  }

  async end(): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, 'exit');
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
    denials: undefined,
    probe: undefined,
    registry: new Registry(),
    clock: systemClock,
    log: silentLogger,
  });
  for (const { afterInit } of flows.components) void afterInit?.();
  return flows;
}
