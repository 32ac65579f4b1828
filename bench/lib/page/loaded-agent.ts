/**
 * A process with an agent that has the shop and 10,000 routes. Its parent sends `measure`, from which on it
 * processes 100 events a second, and `stop` some time later; the reply is what the main thread did meanwhile.
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

/** Times in milliseconds of the main thread. */
export interface LoadReport {
  readonly events: number;
  readonly cpuShare: number;
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

process.on('message', async (command) => {
  if (command === 'stop') {
    isStopped = true;
    return;
  }
  isStopped = false;
  let events = 0;
  const { ms, cpuMs, longest, longestOwnMs } = await measure(async () => {
    events = await processEvents();
  });
  const report: LoadReport = {
    events: (events * 1_000) / ms,
    cpuShare: cpuMs / ms,
    longest: longest.cpuMs,
    longestOwn: longestOwnMs,
  };
  process.send!(report);
});
process.on('disconnect', () => process.exit());
const ready: LoadedAgentReady = { port: shop.agent.port };
process.send!(ready);
