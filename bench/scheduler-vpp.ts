/**
 * The scheduler with the real client on a real VPP: ten thousand routes in one transaction, and ten
 * thousand NAT mappings while a worker forwards traffic. The reference of each are the same requests,
 * pipelined over a raw socket in the same run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { dnat44Key, dnat44Model } from '#models/vpp/dnat44.ts';
import { vppInterfaceKey, vppInterfaceModel } from '#models/vpp/interface.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { NAT44_GLOBAL_KEY, nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceKey, nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { Netns } from '#test/integration/support/netns.ts';
import { vppIn } from '#test/integration/support/netns-vpp.ts';
import { Stream } from '#test/integration/support/traffic.ts';
import { VppProcess } from '#test/integration/support/vpp-process.ts';
import { withoutNodes, withoutVpp } from '#test/support/requirements.ts';
import { RawClient, type RawRequest } from './lib/raw-client.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';
import { VppScheduler } from './lib/vpp-scheduler.ts';

export const NAME = 'scheduler-vpp: routes and NAT mappings on a real VPP';

const MANY = 10_000;
/** Requests in flight; the window of the scheduler. */
const WINDOW = 100;
const ROUNDS = 12;
/** Rounds until V8 has optimized the hot code. */
const WARM_UP = 4;
/** Of the rate of the raw socket. */
const TARGET_SHARE = 1 / 3;

const steps: Readonly<Record<string, (print: Print) => Promise<void>>> = { routes, mappings };

export async function run(print: Print): Promise<void> {
  if (withoutVpp()) print(`not measured: ${withoutVpp()}`);
  else await runInSubprocess(import.meta.filename, 'routes', print);
  if (withoutNodes()) print(`not measured under traffic: ${withoutNodes()}`);
  else await runInSubprocess(import.meta.filename, 'mappings', print);
}

async function routes(print: Print): Promise<void> {
  const vpp = new VppProcess();
  try {
    await vpp.start();
    const scheduler = await VppScheduler.connect(vpp.apiSocket);
    const loop = { name: 'loop0', type: 'SOFTWARE_LOOPBACK', enabled: true } as const;
    const interface_ = vppInterfaceModel.canonical({ ...loop, ip_addresses: ['10.255.0.1/24'] });
    await scheduler.commit(new Map([[vppInterfaceKey.build(loop), interface_]]));
    const values = new Map<string, Value>();
    for (let i = 0; i < MANY; i++) {
      const route = vppRouteModel.canonical({
        dst_network: `20.0.${i >> 8}.${i & 255}/32`,
        next_hop_addr: '10.255.0.2',
        outgoing_interface: 'loop0',
      });
      values.set(vppRouteModel.key(route), route);
    }
    const raw = await RawClient.connect(vpp.apiSocket);
    await compare(print, `${MANY} routes in one transaction`, {
      scheduler,
      raw,
      values,
      during: alone,
    });
    raw.close();
    await scheduler.close();
  } finally {
    await vpp.remove();
  }
}

/** The first packets are lost while neighbors are learned. */
const SETTLE_MS = 500;

async function mappings(print: Print): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const [home, inside, outside] = (await Promise.all(
    ['vpp', 'inside', 'outside'].map((label) => Netns.create(label)),
  )) as [Netns, Netns, Netns];
  const vpp = vppIn(home, join(folder, 'vpp'), 'cpu { main-core 0 corelist-workers 1 }\n');
  try {
    for (const [end, place] of [
      ['in', inside],
      ['out', outside],
    ] as const) {
      const peer = ['peer', 'name', 'eth0', 'netns', place.name];
      await home.run('ip', 'link', 'add', end, 'type', 'veth', ...peer);
      await home.run('ip', 'link', 'set', end, 'up');
      await place.run('ip', 'link', 'set', 'eth0', 'up');
      // No device on the path completes checksums.
      await place.run('ethtool', '-K', 'eth0', 'tx', 'off');
    }
    await inside.run('ip', 'addr', 'add', '10.1.1.2/24', 'dev', 'eth0');
    await inside.run('ip', 'route', 'add', 'default', 'via', '10.1.1.1');
    await outside.run('ip', 'addr', 'add', '10.2.2.2/24', 'dev', 'eth0');
    await vpp.start();
    const scheduler = await VppScheduler.connect(vpp.apiSocket);
    scheduler.notifyOfLinks(['in', 'out']);
    await scheduler.commit(natNode());
    const values = new Map<string, Value>();
    for (let i = 0; i < MANY; i++) {
      const label = `default/service-${i}`;
      const mapping = { external_ip: `10.96.${i >> 8}.${i & 255}`, external_port: 80 };
      const local = { local_ip: '10.1.1.2', local_port: 8080 };
      const st_mappings = [{ ...mapping, protocol: 'TCP', local_ips: [local] }] as const;
      values.set(dnat44Key.build({ label }), dnat44Model.canonical({ label, st_mappings }));
    }
    const raw = await RawClient.connect(vpp.apiSocket);
    const { path } = outside;
    const receiver = { path, address: '10.2.2.2', run: outside.run.bind(outside) };
    const traffic = new Map<string, { sent: number; lost: number }>();
    const during: Setup['during'] = async (who, work) => {
      const stream = await Stream.start(inside, receiver);
      try {
        await sleep(SETTLE_MS);
        const ms = await work();
        const { sent, received } = await stream.stop();
        const before = traffic.get(who) ?? { sent: 0, lost: 0 };
        traffic.set(who, { sent: before.sent + sent, lost: before.lost + sent - received });
        return ms;
      } finally {
        await stream.kill();
      }
    };
    await during('none', () => sleep(2000, 2000));
    const what = `${MANY} NAT mappings with one worker under traffic`;
    await compare(print, what, { scheduler, raw, values, during });
    for (const [who, { sent, lost }] of traffic)
      print(`    packets lost during ${who}: ${lost} of ${sent}`);
    raw.close();
    await scheduler.close();
  } finally {
    await vpp.kill();
    for (const place of [inside, outside, home]) await place.remove();
    rmSync(folder, { recursive: true });
  }
}

function natNode(): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const [end, address] of [
    ['in', '10.1.1.1/24'],
    ['out', '10.2.2.1/24'],
  ] as const) {
    const interface_ = {
      name: end,
      type: 'AF_PACKET',
      enabled: true,
      ip_addresses: [address],
      afpacket: { host_if_name: end },
    } as const;
    values.set(vppInterfaceKey.build(interface_), vppInterfaceModel.canonical(interface_));
    const feature = { name: end, nat_inside: end === 'in', nat_outside: end === 'out' };
    values.set(nat44InterfaceKey.build(feature), nat44InterfaceModel.canonical(feature));
  }
  const pool = nat44AddressPoolModel.canonical({ first_ip: '10.2.2.1' });
  values.set(nat44AddressPoolModel.key(pool), pool);
  values.set(NAT44_GLOBAL_KEY, nat44GlobalModel.canonical({}));
  return values;
}

interface Setup {
  readonly scheduler: VppScheduler;
  readonly raw: RawClient;
  readonly values: ReadonlyMap<string, Value>;
  /** Runs the work under traffic. */
  readonly during: (who: string, work: () => Promise<number>) => Promise<number>;
}

interface Round {
  /** Requests a second. */
  readonly raw: number;
  readonly scheduler: number;
  readonly share: number;
  /** Processor time of the scheduler in milliseconds, by thread. */
  readonly main: number;
  readonly helpers: number;
}

const alone: Setup['during'] = (_who, work) => work();

/** Runs both in turn on the same VPP and deletes the values after each. */
async function compare(
  print: Print,
  what: string,
  { scheduler, raw, values, during }: Setup,
): Promise<void> {
  const removals = new Map([...values.keys()].map((key) => [key, null]));
  const additions = await scheduler.requestsOf(values);
  const deletions = await scheduler.requestsOf(removals);
  const all: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const rawMs = await during('raw requests', () => raw.pipeline(additions, WINDOW));
    await raw.pipeline(deletions, WINDOW);
    const cpu = { main: 0, helpers: 0 };
    const schedulerMs = await during('scheduler', async () => {
      const [thread, process_] = [process.threadCpuUsage(), process.cpuUsage()];
      const ms = await scheduler.commit(values);
      cpu.main = millisecondsOf(process.threadCpuUsage(thread));
      cpu.helpers = millisecondsOf(process.cpuUsage(process_)) - cpu.main;
      return ms;
    });
    await scheduler.commit(removals);
    const rates = {
      raw: perSecond(additions, rawMs),
      scheduler: perSecond(additions, schedulerMs),
    };
    all.push({ ...rates, share: rates.scheduler / rates.raw, ...cpu });
  }
  const [first] = all as [Round];
  const steady = all.slice(WARM_UP);
  const of = (name: keyof Round) => median(steady.map((round) => round[name]));
  const [rate, rawRate] = [of('scheduler'), of('raw')].map((one) =>
    Math.round(one).toLocaleString('en'),
  );
  const share = of('share');
  print(
    `${what}: ${rate}/s, ${additions.length} requests; raw socket ${rawRate}/s; ` +
      `share ${percent(share)} (target a third: ${share >= TARGET_SHARE ? 'met' : 'MISSED'})`,
  );
  print(`    the first time in a process: ${percent(first.share)}`);
  const each = (of('main') / additions.length) * 1000;
  print(
    `    CPU of the main thread: ${of('main').toFixed(0)} ms, ${each.toFixed(1)} us a request; ` +
      `of helper threads, mostly GC: ${of('helpers').toFixed(0)} ms`,
  );
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function millisecondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

function perSecond(requests: readonly RawRequest[], ms: number): number {
  return (requests.length / ms) * 1000;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

if (import.meta.main) await steps[process.argv[2] ?? '']?.(console.log);
