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

const loads: readonly Load[] = [
  {
    what: 'routes',
    values: [
      table(1),
      loop('a', { vrf: 1, ip_addresses: ['192.168.30.1/24'] }),
      ...numbers.map((n) =>
        keyedValue(vppRouteModel, {
          vrf_id: 1,
          dst_network: `100.${64 + (n >> 8)}.${n & 255}.0/24`,
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
