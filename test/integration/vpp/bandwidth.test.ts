/** Limits of pods on a real node: how fast bulk TCP is, while the annotations of the pod change. */
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

/** Bits a second; the start of the two programs counts. */
async function speed(from: Endpoint, to: Endpoint): Promise<number> {
  const start = performance.now();
  const { sent, received } = await transfer(from, to, MEGABYTES);
  assert.deepEqual(received, sent);
  return (BITS * 1000) / (performance.now() - start);
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
      const [sent, received] = [await speed(web, db), await speed(db, web)];
      assert.ok(sent < 44e6, `sends ${sent} bits a second`);
      assert.ok(received < 22e6, `receives ${received} bits a second`);
      // a loaded machine is slow, but TCP does not collapse
      assert.ok(sent > 10e6 && received > 5e6, `${sent}, ${received} bits a second`);

      await node.agent.end('SIGTERM');
      await node.agent.start();
      assert.deepEqual(await configured(node), ['INPUT 40000', 'OUTPUT 20000']);

      await reflect(node, web, out!);
      await until('one limit', async () => (await configured(node)).join() === 'INPUT 30000');
      const [limited, free] = [await speed(web, db), await speed(db, web)];
      assert.ok(limited < 33e6, `sends ${limited} bits a second`);
      assert.ok(free > 22e6, `receives ${free} bits a second without a limit`);

      assert.equal((await node.agent.delete(web)).error, '');
      assert.deepEqual(await configured(node), []);
    });
});
