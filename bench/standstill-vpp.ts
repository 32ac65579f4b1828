/**
 * How long the main loop of a real VPP pauses while a restarted agent reads its state back: with
 * 10,000 routes in one table, and with 10,000 NAT44 mappings. VPP returns the details of a dump without a
 * pause, and processes all messages of one read one after the other, so the longest run of the process
 * that handles the API is the time without a packet. The reference is one bare dump of the same objects.
 */
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { keyedValue, loop, table } from '#test/descriptors/compliance/example-values.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { median, milliseconds, thousands } from './lib/floor/row.ts';
import { commit, VppNode } from './lib/vpp-node.ts';

export const NAME = 'standstill-vpp';

const COUNT = 10_000;
const ROUNDS = 5;

interface Load {
  readonly what: string;
  readonly values: readonly KeyedValue[];
  readonly dump: (client: VppClient) => Promise<readonly unknown[]>;
}

const numbers = Array.from({ length: COUNT }, (_, n) => n);

const networkOf = (n: number) => `100.${64 + (n >> 8)}.${n & 255}.0/24`;

const loads: readonly Load[] = [
  {
    what: 'routes',
    values: [
      table(1),
      loop('a', { vrf: 1, ip_addresses: ['192.168.30.1/24'] }),
      ...numbers.map((n) =>
        keyedValue(vppRouteModel, {
          vrf_id: 1,
          dst_network: networkOf(n),
          next_hop_addr: '192.168.30.2',
          outgoing_interface: 'a',
        }),
      ),
    ],
    dump: (client) =>
      client.dump('ip_route_v2_dump', { src: 0, table: { table_id: 1, is_ip6: false, name: '' } }),
  },
  {
    what: 'NAT44 mappings',
    values: [
      keyedValue(nat44GlobalModel, { forwarding: true }),
      ...numbers.map((n) =>
        keyedValue(dnat44Model, {
          label: `default/service-${n}`,
          st_mappings: [
            {
              external_ip: `10.96.${n >> 8}.${n & 255}`,
              external_port: 80,
              local_ips: [{ local_ip: `10.1.${n >> 8}.${n & 255}`, local_port: 8080 }],
            },
          ],
        }),
      ),
    ],
    dump: (client) => client.dump('nat44_static_mapping_dump', {}),
  },
];

export async function run(print: (line: string) => void): Promise<void> {
  if (withoutVpp()) {
    print(`not measured: ${withoutVpp()}`);
    return;
  }
  for (const load of loads) await measure(print, load);
  await compareQuestions(print, loads[0]!);
}

/** Other questions about routes, by the processor time of VPP: its longest run depends on the load of the machine. */
async function compareQuestions(print: (line: string) => void, { values, dump }: Load) {
  await using node = await VppNode.start();
  await commit(node.agent(), 'full-resync', new Map(values.map(({ key, value }) => [key, value])));
  const { client } = node;
  const inTable = { table_id: 1, is_ip6: false, name: '' };
  const sources = await client.dump('fib_source_dump', {});
  const unused = sources.find(({ src }) => src.name === 'DHCP')!.src.id;
  const questions: Readonly<Record<string, () => Promise<unknown>>> = {
    'a ping': () => client.request('control_ping', {}),
    'dump of all routes': () => dump(client),
    'dump of a source that has none': () =>
      client.dump('ip_route_v2_dump', { src: unused, table: inTable }),
    'each route by itself, 100 in flight': () =>
      Promise.all(
        numbers.map((n) =>
          client.request('ip_route_lookup_v2', {
            table_id: 1,
            exact: 1,
            prefix: toPrefix(networkOf(n)),
          }),
        ),
      ),
    'number of entries by prefix length': () =>
      client.request('cli_inband', { cmd: 'show ip fib table 1 summary' }),
  };
  print(`${thousands(COUNT)} routes: processor time of VPP`);
  for (const [name, ask] of Object.entries(questions)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await node.processorTime(ask));
    print(
      `    ${name}: median ${milliseconds(median(times))}, least ${milliseconds(Math.min(...times))}`,
    );
  }
}

async function measure(print: (line: string) => void, { what, values, dump }: Load): Promise<void> {
  await using node = await VppNode.start();
  const all = new Map(values.map(({ key, value }) => [key, value]));
  await commit(node.agent(), 'full-resync', all);
  const bare: number[] = [];
  const restart: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await node.longestRun(() => dump(node.client)));
    restart.push(await node.longestRun(() => commit(node.agent(), 'full-resync', all)));
  }
  print(`${thousands(COUNT)} ${what}: longest run of VPP's API process`);
  print(`    one dump: ${text(bare)}`);
  print(`    restart of the agent: ${text(restart)}`);
}

function text(all: readonly number[]): string {
  return `median ${milliseconds(median(all))}, most ${milliseconds(Math.max(...all))}`;
}
