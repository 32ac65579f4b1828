/**
 * NAT44 mappings and ACLs of growing number on a real VPP: all to do, on an empty VPP, nothing to do
 * for the next agent, and one more backend in each. What doubles takes twice as long.
 */
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api.ts';
import { createScheduler } from '#kvscheduler/scheduler.ts';
import { aclModel } from '#models/vpp/acl.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { BinapiClient } from '#southbound/vpp/binapi/client/client.ts';
import { unixConnect } from '#southbound/vpp/binapi/transport/unix.ts';
import { vppDescriptors } from '#southbound/vpp/descriptors/vpp-descriptors.ts';
import { keyed, loop, table } from '#test/southbound/compliance/keyed.ts';
import { noVpp, VppProcess } from '#test/vpp/vpp-process.ts';

export const name = 'services-vpp';

const BACKENDS = 10;
const RULES = 1000;

const base = [keyed(nat44GlobalModel, { forwarding: true }), table(1), loop('a')];

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

/** As many services with a mapping each. */
function services(count: number, backends: number): readonly KeyedValue[] {
  return Array.from({ length: count }, (_, n) =>
    keyed(dnat44Model, { label: `default/service-${n}`, st_mappings: [mapping(n, backends)] }),
  );
}

/** One service with as many mappings. */
function service(count: number, backends: number): readonly KeyedValue[] {
  const st_mappings = Array.from({ length: count }, (_, n) => mapping(n, backends));
  return [keyed(dnat44Model, { label: 'default/all', st_mappings })];
}

function acls(count: number, rules: number): readonly KeyedValue[] {
  return Array.from({ length: count }, (_, n) =>
    keyed(aclModel, {
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
  const vpp = new VppProcess();
  await vpp.start();
  const client = new BinapiClient({
    connect: unixConnect(vpp.apiSocket, systemClock),
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  client.start();
  await client.whenConnected();
  const agent = () =>
    createScheduler({
      descriptors: vppDescriptors({ client, clock: systemClock, log: silentLogger }),
      clock: systemClock,
      log: silentLogger,
    });
  const timed = async (
    scheduler: ReturnType<typeof agent>,
    mode: 'full-resync' | 'update',
    all: readonly KeyedValue[],
  ): Promise<string> => {
    const start = performance.now();
    const { failures } = await scheduler.commit({
      description: 'bench',
      mode,
      values: new Map(all.map(({ key, value }) => [key, value])),
      onFailure: 'best-effort',
    });
    if (failures.length > 0) throw failures[0]?.error ?? new Error('failed');
    return `${Math.round(performance.now() - start)} ms`;
  };
  try {
    const first = agent();
    const made = await timed(first, 'full-resync', [...base, ...values]);
    await first.close();
    const next = agent();
    const nothing = await timed(next, 'full-resync', [...base, ...values]);
    const changed = await timed(next, 'update', after);
    await next.close();
    return `all ${made}, nothing ${nothing}, one more in each ${changed}`;
  } finally {
    await client.close();
    await vpp.remove();
  }
}

export async function run(print: (line: string) => void): Promise<void> {
  if (noVpp) {
    print(`not measured: ${noVpp}`);
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
