/**
 * Limits of pods on a real node: how much of bulk TCP passes in its time, and what VPP drops of it, while the annotations
 * of the pod change. A busy machine makes the time longer, and the limits no wider.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bandwidthAnnotations } from '#kubernetes/models/bandwidth-annotations.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { policers } from '#test/descriptors/compliance/vpp-state.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { podKey, RealNode } from '../support/node.ts';
import { type Endpoint, transfer } from '../support/traffic.ts';

const MEGABYTES = 8;
const BITS = MEGABYTES * 1024 * 1024 * 8;

type Annotations = Readonly<Record<string, string>>;

const [inAndOut, out]: readonly Annotations[] = [
  { [bandwidthAnnotations.ingress]: '20M', [bandwidthAnnotations.egress]: '40M' },
  { [bandwidthAnnotations.egress]: '30M' },
];

async function reflect(node: RealNode, pod: Endpoint, annotations: Annotations): Promise<void> {
  const value = resources.pod.model.canonical({
    name: 'web',
    namespace: 'default',
    ip_address: pod.address,
    annotations,
  });
  await node.etcd.store.put(podKey('web'), valueText(resources.pod, value));
}

/** Rates in kbit/s, by direction. */
async function configured(node: RealNode): Promise<readonly string[]> {
  const found = await node.vpp.withClient(policers);
  return found.map(({ name, cir }) => `${name.split('/')[1]} ${cir}`).sort();
}

/** Half a second of a rate may pass at once, as docs/networking.md says. */
const BURST_SECONDS = 0.5;

type Policer = 'policer-input' | 'policer-output';

/** Packets that all policers of a kind have dropped. */
async function dropped(node: RealNode, policer: Policer): Promise<number> {
  const errors = await node.vpp.cli('show errors');
  const line = new RegExp(`^ *(\\d+) +${policer} +Packets Dropped`, 'gm');
  return [...errors.matchAll(line)].reduce((all, [, count]) => all + Number(count), 0);
}

interface Transfer {
  /** From the start of the two programs to their end. */
  readonly seconds: number;
  /** Packets that VPP has dropped of what its sender sends, and of what its receiver receives. */
  readonly drops: Readonly<Record<Policer, number>>;
}

async function transferred(node: RealNode, from: Endpoint, to: Endpoint): Promise<Transfer> {
  const count = async () => ({
    'policer-input': await dropped(node, 'policer-input'),
    'policer-output': await dropped(node, 'policer-output'),
  });
  const before = await count();
  const start = performance.now();
  const { sent, received } = await transfer(from, to, MEGABYTES);
  const seconds = (performance.now() - start) / 1000;
  assert.deepEqual(received, sent);
  const after = await count();
  const drops = {
    'policer-input': after['policer-input'] - before['policer-input'],
    'policer-output': after['policer-output'] - before['policer-output'],
  };
  return { seconds, drops };
}

/** The rate and one burst let no more pass in the time, and what exceeds them was dropped by this policer alone. */
function assertLimited({ seconds, drops }: Transfer, rate: number, policer: Policer): void {
  const most = rate * (seconds + BURST_SECONDS);
  assert.ok(BITS < most, `${BITS} bits in ${seconds} s, at most ${most} may pass`);
  const other = policer === 'policer-input' ? 'policer-output' : 'policer-input';
  assert.ok(drops[policer] > 0 && drops[other] === 0, `drops: ${JSON.stringify(drops)}`);
}

const options = { skip: withoutNodes() || withoutVhostNet(), timeout: 200_000 };

describe('bandwidth of a pod', options, () => {
  for (const enableGSO of [true, false])
    it(`follows its annotations, GSO ${enableGSO ? 'on' : 'off'}`, async () => {
      const contiv = { useTAPInterfaces: true, enableGSO };
      await using node = await RealNode.create({ links: 'TAP', contiv });
      await node.agent.start();
      const [web, db] = [await node.pod('web'), await node.pod('db')];

      await reflect(node, web, inAndOut!);
      await until('both limits', async () => (await configured(node)).length === 2);
      assert.deepEqual(await configured(node), ['INPUT 40000', 'OUTPUT 20000']);
      assertLimited(await transferred(node, web, db), 40e6, 'policer-input');
      assertLimited(await transferred(node, db, web), 20e6, 'policer-output');

      await node.agent.end('SIGTERM');
      await node.agent.start();
      assert.deepEqual(await configured(node), ['INPUT 40000', 'OUTPUT 20000']);

      await reflect(node, web, out!);
      await until('one limit', async () => (await configured(node)).join() === 'INPUT 30000');
      assertLimited(await transferred(node, web, db), 30e6, 'policer-input');
      const free = await transferred(node, db, web);
      assert.deepEqual(free.drops, { 'policer-input': 0, 'policer-output': 0 });

      assert.equal((await node.agent.delete(web)).error, '');
      assert.deepEqual(await configured(node), []);
    });
});
