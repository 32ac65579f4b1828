/**
 * Growing numbers of NAT44 mappings and ACLs on a real VPP: on an empty VPP, without a change by the
 * next agent, and with one more backend in each. Twice the number must take twice the time.
 */

import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { TransactionMode } from '#kvscheduler/api/transaction.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { aclModel } from '#models/vpp/acl.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { keyedValue, loop, table } from '#test/descriptors/compliance/example-values.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { commit, VppNode } from './lib/vpp-node.ts';

export const NAME = 'services-vpp';

const BACKENDS = 10;
const RULES = 1000;

const base = [keyedValue(nat44GlobalModel, { forwarding: true }), table(1), loop('a')];

function mapping(n: number, backends: number) {
  return {
    external_ip: `10.${96 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`,
    external_port: 80,
    twice_nat: 'SELF',
    local_ips: Array.from({ length: backends }, (_, backend) => ({
      vrf_id: 1,
      local_ip: `10.1.${n & 255}.${backend + 2}`,
      local_port: 8080,
      probability: 1,
    })),
  } as const;
}

/** `count` services with one mapping each. */
function services(count: number, backends: number): readonly KeyedValue[] {
  return Array.from({ length: count }, (_, n) =>
    keyedValue(dnat44Model, { label: `default/service-${n}`, st_mappings: [mapping(n, backends)] }),
  );
}

/** One service with `count` mappings. */
function service(count: number, backends: number): readonly KeyedValue[] {
  const st_mappings = Array.from({ length: count }, (_, n) => mapping(n, backends));
  return [keyedValue(dnat44Model, { label: 'default/all', st_mappings })];
}

function acls(count: number, rules: number): readonly KeyedValue[] {
  return Array.from({ length: count }, (_, n) =>
    keyedValue(aclModel, {
      name: `contiv-policy-${n}`,
      rules: Array.from({ length: rules }, (_, rule) => ({
        action: 'PERMIT' as const,
        ip_rule: {
          ip: { source_network: `10.${rule >> 8}.${rule & 255}.0/24` },
          tcp: { destination_port_range: { lower_port: 80, upper_port: 80 } },
        },
      })),
      interfaces: { egress: ['a'] },
    }),
  );
}

async function round(values: readonly KeyedValue[], after: readonly KeyedValue[]): Promise<string> {
  await using node = await VppNode.start();
  const timed = async (agent: Scheduler, mode: TransactionMode, all: readonly KeyedValue[]) => {
    const byKey = new Map(all.map(({ key, value }) => [key, value]));
    return `${Math.round((await commit(agent, mode, byKey)).ms)} ms`;
  };
  const [first, next] = [node.agent(), node.agent()];
  const created = await timed(first, 'full-resync', [...base, ...values]);
  const unchanged = await timed(next, 'full-resync', [...base, ...values]);
  const changed = await timed(next, 'update', after);
  return `create all ${created}, no change ${unchanged}, one more in each ${changed}`;
}

export async function run(print: (line: string) => void): Promise<void> {
  if (withoutVpp()) {
    print(`not measured: ${withoutVpp()}`);
    return;
  }
  for (const count of [2500, 5000, 10_000]) {
    const each = await round(services(count, BACKENDS), services(count, BACKENDS + 1));
    print(`${count} services with ${BACKENDS} backends: ${each}`);
    const one = await round(service(count, BACKENDS), service(count, BACKENDS + 1));
    print(`one service with ${count} mappings: ${one}`);
  }
  for (const count of [10, 20, 40]) {
    const each = await round(acls(count, RULES), acls(count, RULES + 1));
    print(`${count} ACLs of ${RULES} rules on one interface: ${each}`);
  }
}
