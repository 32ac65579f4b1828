/**
 * A process with an agent that has the shop and 10,000 routes. Its parent sends `cost` or `stretches`, from
 * which on it processes 100 events a second, and `stop` some time later; the reply is the measurement. Each
 * has a run of its own: looking for stretches takes all the processor time that the agent leaves.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeNode, until } from '#test/cmd/agent/harness.ts';
import { startShop } from '#test/ui/support/shop.ts';
import { measure } from '../measure.ts';

const VALUES = 10_000;
const EVENT_MS = 10;
const CONFIG = '/vnf-agent/node1/config/vpp/v2/';
const INTERFACE = 'bench';

export interface LoadedAgentReady {
  readonly port: number;
}

export type LoadCommand = 'cost' | 'stretches' | 'stop';

export interface CostReport {
  /** A second. */
  readonly events: number;
  /** Of all threads; 1: one processor. */
  readonly cpuShare: number;
}

/** Times in milliseconds of the main thread. */
export interface StretchReport {
  readonly longest: number;
  /** Without garbage collection. */
  readonly longestOwn: number;
}

const route = (n: number, gateway: string): [string, string] => [
  `${CONFIG}route/if/${INTERFACE}/vrf/0/dst/20.0.${n >> 8}.${n & 255}/32/gw/${gateway}`,
  JSON.stringify({
    dst_network: `20.0.${n >> 8}.${n & 255}/32`,
    next_hop_addr: gateway,
    outgoing_interface: INTERFACE,
  }),
];

const node = makeNode();
const loopback = {
  name: INTERFACE,
  type: 'SOFTWARE_LOOPBACK',
  enabled: true,
  ip_addresses: ['172.29.0.1/24'],
};
await node.cluster.put(`${CONFIG}interfaces/${INTERFACE}`, JSON.stringify(loopback));
for (let n = 0; n < VALUES; n++) await node.cluster.put(...route(n, '172.29.0.2'));
const shop = await startShop({}, node);

let isStopped = true;

async function processEvents(): Promise<number> {
  const first = shop.agent.controller.eventCount;
  for (let n = 0; !isStopped; n++) {
    const [key, value] = route(n >> 1, '172.29.0.3');
    await (n % 2 === 0 ? node.cluster.put(key, value) : node.cluster.delete(key));
    await sleep(EVENT_MS);
  }
  await until(() => shop.agent.controller.isIdle);
  return shop.agent.controller.eventCount - first;
}

async function cost(): Promise<CostReport> {
  const start = performance.now();
  const before = process.cpuUsage();
  const events = await processEvents();
  const { user, system } = process.cpuUsage(before);
  const ms = performance.now() - start;
  return { events: (events * 1_000) / ms, cpuShare: (user + system) / 1_000 / ms };
}

async function stretches(): Promise<StretchReport> {
  const { longest, longestOwnMs } = await measure(processEvents);
  return { longest: longest.cpuMs, longestOwn: longestOwnMs };
}

process.on('message', async (command: LoadCommand) => {
  isStopped = command === 'stop';
  if (isStopped) return;
  process.send!(command === 'cost' ? await cost() : await stretches());
});
process.on('disconnect', () => process.exit());
const ready: LoadedAgentReady = { port: shop.agent.port };
process.send!(ready);
