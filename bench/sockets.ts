/**
 * Services at sockets: what calls of `connect` and datagrams cost more with 10,000 services in the table, against a process
 * outside of the control group in the same run; and how long the table takes for its changes, against bare calls of the kernel
 * that write as many entries.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '#infra/clock/system.ts';
import { BpfMap } from '#linux/bpf/map.ts';
import type { SocketService, SocketTable } from '#linux/socket-services/api.ts';
import { SocketMachine } from '#test/integration/kernel/socket-services/machine.ts';
import { Netns } from '#test/integration/support/netns.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { median, milliseconds } from './lib/floor/row.ts';
import { measure } from './lib/measure.ts';
import type { CallRequest } from './lib/socket-calls.ts';
import type { Print } from './main.ts';

export const NAME = 'sockets';

const SERVICES = 10_000;
const BACKENDS = 10;
const ROUNDS = 41;
const CALLS = 5_000;

/** Datagrams are received there, at all addresses of loopback. */
const RECEIVER_PORT = 8080;

type Place = Pick<CallRequest, 'address' | 'port'>;

const direct: Place = { address: '127.0.0.1', port: RECEIVER_PORT };
const service: Place = { address: '10.97.7.7', port: 80 };

/** @param backends of the service; they are addresses of loopback, so that calls find a route */
function serviceAt(n: number, backends = BACKENDS): SocketService {
  return {
    name: `namespace/service-${n}`,
    mappings: [
      {
        frontends: [
          { address: `10.97.${n >> 8}.${n & 255}`, port: 80, protocol: 'UDP', scope: 'ADDRESS' },
        ],
        backends: Array.from({ length: backends }, (_, at) => ({
          address: `127.${at + 1}.${n >> 8}.${n & 255}`,
          port: RECEIVER_PORT,
          weight: 1,
        })),
        affinityTimeout: 0,
        hostSource: '',
      },
    ],
  };
}

export async function run(print: Print): Promise<void> {
  const reason = withoutSocketHooks();
  if (reason) {
    print(reason);
    return;
  }
  const machine = new SocketMachine();
  try {
    const table = machine.table();
    await changes(table, print);
    await calls(machine, print);
  } finally {
    await machine.close();
  }
}

async function changes(table: SocketTable, print: Print): Promise<void> {
  const services = Array.from({ length: SERVICES }, (_, n) => serviceAt(n));
  const entries = SERVICES * (2 + 2 * BACKENDS);
  const filled = await measure(() => Promise.all(services.map((one) => table.put(one))));
  const bare = await measure(() => writeBare(entries));
  print(
    `${SERVICES} services with ${BACKENDS} backends: ${milliseconds(filled.ms)}, processor ${milliseconds(filled.cpuMs)}; ` +
      `${entries} entries by bare calls for 2,048: ${milliseconds(bare.ms)}; longest time without a turn ${milliseconds(filled.longest.cpuMs)}`,
  );
  const read = await measure(() => table.services());
  print(
    `read back: ${milliseconds(read.ms)}; longest time without a turn ${milliseconds(read.longest.cpuMs)}`,
  );
  const steps = await measure(async () => {
    for (let n = 0; n < 1000; n++) await table.put(serviceAt(n, n % 2 === 0 ? 9 : 10));
  });
  print(`a backend goes from every second of 1,000 services: ${milliseconds(steps.ms / 500)} each`);
}

async function writeBare(count: number): Promise<void> {
  const map = BpfMap.create('cv_bench', {
    kind: 'hash',
    keyLength: 24,
    valueLength: 20,
    maxEntries: 1 << 20,
  });
  const value = Buffer.alloc(20);
  await map.setAll(
    Array.from({ length: count }, (_, n) => {
      const key = Buffer.alloc(24);
      key.writeUInt32LE(n);
      return [key, value] as const;
    }),
    systemClock,
  );
  map.close();
}

/** Each call at addresses outside of the group, and in it; in a network namespace of their own. */
async function calls(machine: SocketMachine, print: Print): Promise<void> {
  const namespace = await Netns.create('bench');
  const outside = await start(namespace, '', String(RECEIVER_PORT));
  const inside = await start(namespace, machine.group);
  try {
    for (const [call, title] of [
      ['connect', 'connect of a UDP socket'],
      ['sendto', 'sendto of a UDP socket without a connection'],
      ['send', 'send of a connected UDP socket'],
    ] as const)
      print(`processor time of ${title} ${await compare(call, outside, inside)}`);
  } finally {
    for (const process of [outside, inside]) {
      process.disconnect();
      await once(process, 'exit');
    }
    await namespace.remove();
  }
}

async function compare(
  call: CallRequest['call'],
  outside: ChildProcess,
  inside: ChildProcess,
): Promise<string> {
  const ask = async (process: ChildProcess, to: Place): Promise<number> => {
    process.send({ call, ...to, count: CALLS } satisfies CallRequest);
    const [nanoseconds] = (await once(process, 'message')) as [number];
    return nanoseconds;
  };
  const rows = { reference: [], miss: [], hit: [] } as Record<string, number[]>;
  for (let round = 0; round < ROUNDS; round++) {
    const reference = await ask(outside, direct);
    rows['reference']!.push(reference);
    rows['miss']!.push((await ask(inside, direct)) - reference);
    rows['hit']!.push((await ask(inside, service)) - reference);
  }
  const text = (name: string): string => `${(median(rows[name]!) / 1000).toFixed(2)} µs`;
  return (
    `outside the group: ${text('reference')}; more in the group: ${text('miss')} to an address ` +
    `that is no service, ${text('hit')} to a service (medians of ${ROUNDS} pairs)`
  );
}

async function start(namespace: Netns, ...words: readonly string[]): Promise<ChildProcess> {
  const program = join(import.meta.dirname, 'lib/socket-calls.ts');
  const [command, ...args] = [...namespace.enter, process.execPath, program, ...words];
  const child = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return child;
}
