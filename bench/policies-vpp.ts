/**
 * Packets a second of a real VPP from one pod to another that has a table of policies: loopbacks with the
 * ACLs of pods, and VPP's packet generator in place of the sender. Packets of 64 bytes over UDP from 1,000
 * addresses, each of which another rule permits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { aclModel } from '#models/vpp/acl.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { reflectedTable, reflectingRules, tableRules } from '#plugins/policy/acl/acl-rules.ts';
import { denyAll, permitAll, type Table } from '#plugins/policy/acl/table.ts';
import { AddressSet } from '#plugins/policy/address-set.ts';
import { PortSet } from '#plugins/policy/port-set.ts';
import { keyedValue, loop, table } from '#test/descriptors/compliance/example-values.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { commit, VppNode } from './lib/vpp-node.ts';

export const NAME = 'policies-vpp';

const VRF = 1;
const SENDERS = 1000;
const PORT = 53;
const RECEIVER = '198.19.0.2';
const RULES = [1, 100, 1000];
const ROUNDS = 3;
const WARM_UP_MS = 500;
const MEASURED_MS = 2000;

export async function run(print: (line: string) => void): Promise<void> {
  if (withoutVpp()) {
    print(`not measured: ${withoutVpp()}`);
    return;
  }
  await using node = await VppNode.start();
  const agent = node.agent();
  const put = (...values: readonly KeyedValue[]) =>
    commit(agent, 'update', new Map(values.map(({ key, value }) => [key, value])));
  await commit(agent, 'full-resync', new Map());
  await put(
    table(VRF),
    loop('from', { enabled: true, vrf: VRF, ip_addresses: ['198.18.0.1/24'] }),
    loop('to', { enabled: true, vrf: VRF, ip_addresses: ['198.19.0.1/24'] }),
    keyedValue(vppArpModel, {
      interface: 'to',
      ip_address: RECEIVER,
      phys_address: '02:00:00:00:00:02',
      static: true,
    }),
  );
  await node.cli(stream());
  const without = await packetsPerSecond(node);
  print(`without ACLs: ${millions(without)}`);
  for (const rules of RULES) {
    const permits = permitting(rules);
    await put(...acls('from', [permitAll]), ...acls('to', permits));
    const rate = await packetsPerSecond(node);
    const { ms } = await put(...acls('to', permits.slice(1)));
    print(
      `${rules} ${rules === 1 ? 'rule' : 'rules'}: ${millions(rate)}, ` +
        `${Math.round((rate / without) * 100)} % of that; one rule removed in ${ms.toFixed(1)} ms`,
    );
  }
}

/** That many permits; the last ones permit the senders. */
function permitting(rules: number): Table {
  const ports = PortSet.of([{ protocol: 'UDP', first: PORT, last: PORT }]);
  if (rules === 1) return [{ ...permitAll, ports }, denyAll];
  const ofOne = Array.from({ length: rules - 1 }, (_, n) => ({
    ...permitAll,
    sources: AddressSet.of([`${sender(n)}/32`]),
    ports,
  }));
  return [...ofOne, { ...permitAll, ports }, denyAll];
}

function sender(n: number): string {
  return `10.5.${n >> 8}.${n & 255}`;
}

/** Both of a pod. */
function acls(pod: string, rules: Table): KeyedValue[] {
  return [
    keyedValue(aclModel, {
      name: `contiv-policy-out-${pod}`,
      rules: tableRules(rules, false),
      interfaces: { egress: [pod] },
    }),
    keyedValue(aclModel, {
      name: `contiv-policy-in-${pod}`,
      rules: reflectingRules(reflectedTable(rules), false),
      interfaces: { ingress: [pod] },
    }),
  ];
}

/** Command for packets that enter at the first loopback. */
function stream(): string {
  const packet = `UDP: ${sender(0)} - ${sender(SENDERS - 1)} -> ${RECEIVER} UDP: 1234 -> ${PORT}`;
  const data = `{ ${packet} length 36 checksum 0 incrementing 8 }`;
  return `packet-generator new { name pods limit 0 size 64-64 interface loop0 node ip4-input data ${data} }`;
}

/** Median of those that leave by the second loopback. */
async function packetsPerSecond(node: VppNode): Promise<number> {
  const sent = async () =>
    Number(/tx packets\s+(\d+)/.exec(await node.cli('show interface loop1'))?.[1]);
  await node.cli('packet-generator enable-stream pods');
  await sleep(WARM_UP_MS);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [before, start] = [await sent(), performance.now()];
    await sleep(MEASURED_MS);
    rates.push(((await sent()) - before) / ((performance.now() - start) / 1000));
  }
  await node.cli('packet-generator disable-stream pods');
  return rates.sort((a, b) => a - b)[ROUNDS >> 1] as number;
}

function millions(rate: number): string {
  return `${(rate / 1e6).toFixed(2)} million packets a second`;
}
