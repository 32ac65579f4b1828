/**
 * contiv-ksr while 5,000 nodes say which of 50 policies of the cluster they do not enforce: a minute of their records, the six rounds in which it sums
 * them up, and the conditions of all policies. The reference of the same run parses the texts of the records alone.
 */
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { ClusterEnforcement, ROUND_MS } from '#ksr/policy-enforcement/cluster-enforcement.ts';
import { enforcedCondition } from '#ksr/policy-enforcement/enforced-condition.ts';
import { RecordTable } from '#ksr/records/record-table.ts';
import { clusterNetworkPolicyModel } from '#kubernetes/models/cluster-network-policy.ts';
import {
  PolicySetDigest,
  policyDigest,
  policyEnforcementKey,
  policyEnforcementModel,
} from '#kubernetes/models/policy-enforcement.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { measure } from './lib/measure.ts';
import type { Print } from './lib/subprocess.ts';

export const NAME = 'policy-enforcement: 50 policies of the cluster, 5,000 nodes';

const NODES = 5_000;
const POLICIES = 50;
const ROUNDS = 6;
const MINUTES = 5;
const policies = resources.clusternetworkpolicy;
const records = Array.from({ length: POLICIES }, (_, at) =>
  clusterNetworkPolicyModel.canonical({ name: `policy-${at}`, priority: at }),
);
const nameOf = (node: number): string => `node-${node}`;

/** One node in ten cannot carry five of the policies. */
function recordText(node: number, applied: string, minute: number): string {
  const refused = node % 10 === 0 ? records.slice(0, 5) : [];
  const not_enforced = refused.map(({ name }) => ({
    policy: name,
    code: 'NotCarried',
    reason: 'denied ports of SCTP: VPP compares no ports of this protocol',
  }));
  const updated = new Date(minute * 60_000 + node).toISOString();
  const record = { node_name: nameOf(node), updated, applied, not_enforced };
  const json = policyEnforcementModel.toJson(policyEnforcementModel.canonical(record));
  return JSON.stringify(json);
}

export async function run(print: Print): Promise<void> {
  const clock = new ManualClock();
  const store = new MemoryStore(2 * NODES);
  const nodes = new RecordTable(REFLECTOR_PREFIX + resources.node.keyPrefix);
  nodes.beginList();
  for (let node = 0; node < NODES; node++) nodes.set(nodes.prefix + nameOf(node), '{}');
  nodes.endList();
  const digest = new PolicySetDigest();
  for (const record of records) {
    digest.toggle(policyDigest(record));
    await store.put(REFLECTOR_PREFIX + policies.key(record.name, ''), valueText(policies, record));
  }
  const random = seededRandom(1);
  const log = silentLogger;
  const deps = { store, nodes, prefix: REFLECTOR_PREFIX, clock, random, log };
  const enforcement = new ClusterEnforcement(deps);
  let [conditions, different] = [0, 0];
  let before = '';
  enforcement.start(() => {
    const all = records.map((record) => {
      const found = enforcement.of(record.name, valueText(policies, record));
      return found && enforcedCondition(found);
    });
    conditions += all.length;
    const text = JSON.stringify(all);
    if (text !== before) different++;
    before = text;
  });
  await clock.advance(0);
  const ours: number[] = [];
  const reference: number[] = [];
  let bytes = 0;
  for (let minute = 0; minute < MINUTES; minute++) {
    const texts = Array.from({ length: NODES }, (_, node) => recordText(node, digest.text, minute));
    bytes = texts.reduce((sum, text) => sum + text.length, 0) / NODES;
    let parsed = 0;
    const { cpuMs: parsing } = await measure(async () => {
      for (const text of texts) parsed += Object.keys(JSON.parse(text) as object).length;
    });
    const { cpuMs: writing } = await measure(async () => {
      const other = new MemoryStore(2 * NODES);
      for (const [node, text] of texts.entries())
        await other.put(policyEnforcementKey.build({ name: nameOf(node) }), text);
    });
    const { cpuMs } = await measure(async () => {
      for (const [node, text] of texts.entries())
        await store.put(policyEnforcementKey.build({ name: nameOf(node) }), text);
      for (let round = 0; round < ROUNDS; round++) await clock.advance(ROUND_MS);
    });
    if (parsed === 0) throw new Error('nothing was parsed');
    ours.push(cpuMs - writing);
    reference.push(parsing);
  }
  await enforcement.close();
  const [own, bare] = [median(ours), median(reference)];
  print(
    `${NODES} records of ${bytes.toFixed(0)} bytes a minute, ${ROUNDS} rounds with ${POLICIES} conditions each: ` +
      `${own.toFixed(0)} ms of CPU, ${(own / 600).toFixed(2)} % of one; ${(own / bare).toFixed(1)} of the parsing of the texts alone (${bare.toFixed(0)} ms)`,
  );
  print(`    ${conditions} conditions, of which the rounds had ${different} different lists`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
