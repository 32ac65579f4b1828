import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import {
  UnsupportedFeatures,
  unsupportedFeatures,
  warnOfPod,
} from '#plugins/ipv4net/unsupported-features.ts';
import { TestNode } from '../test-node.ts';

const supported = { useSrv6ForServices: () => false };

function logged() {
  const texts: string[] = [];
  const log = {
    warn: (fields: unknown, text?: unknown) => void texts.push(String(text ?? fields)),
  };
  return { texts, log };
}

const pod = (name: string, annotations: Record<string, string>) =>
  [
    resources.pod.key(name, 'default'),
    podModel.canonical({ name, namespace: 'default', annotations }),
  ] as const;

describe('a feature that is not supported yet', () => {
  it('is counted and logged at a resync, and not when it is not used', () => {
    const { texts, log } = logged();
    const state: KubeState = new Map([
      [
        'customnetwork',
        new Map([
          ['a', {}],
          ['b', {}],
        ]),
      ],
      ['service', new Map([['k8s/service/web', {}]])],
      ['external-interface', new Map()],
      [
        'pod',
        new Map([
          pod('fast', { 'contivpp.io/custom-if': 'memif1/memif' }),
          pod('labeled', { 'contivpp.io/microservice-label': 'vnf' }),
          pod('both', {
            'contivpp.io/custom-if': 'memif1/memif',
            'contivpp.io/service-endpoint-if': 'memif1',
          }),
          pod('web', {}),
        ]),
      ],
    ]);
    const features = new UnsupportedFeatures({ useSrv6ForServices: () => true }, state);
    features.warn(log);
    assert.deepEqual(features.texts(), [
      'SRv6 for services (configured)',
      'custom networks (2 objects)',
      'custom interfaces of pods (2 pods)',
      'microservice labels of pods (1 pod)',
      'service endpoint interfaces of pods (1 pod)',
    ]);
    assert.equal(texts.length, 5);
    assert.equal(texts[1], 'not supported yet, without effect: custom networks (2 objects)');
    const services = new Map([['service', new Map([['k8s/service/web', {}]])]]);
    const unused = new UnsupportedFeatures(supported, services);
    assert.deepEqual(unused.texts(), []);
  });

  it('is counted when an object appears between two resyncs', () => {
    const { texts, log } = logged();
    const features = new UnsupportedFeatures(supported, new Map());
    const key = 'k8s/customnetwork/blue';
    features.change(
      new Map([['customnetwork', new Map([[key, {}]])]]),
      log,
      'customnetwork',
      key,
      true,
    );
    assert.deepEqual(texts, [`custom networks are not supported yet: ${key} has no effect`]);
    assert.deepEqual(features.texts(), ['custom networks (1 object)']);
    features.change(new Map([['customnetwork', new Map()]]), log, 'customnetwork', key, false);
    assert.deepEqual(features.texts(), []);
  });

  it('is named for a pod that asks for more than its main interface', () => {
    const { texts, log } = logged();
    const state: KubeState = new Map([
      ['pod', new Map([pod('fast', { 'contivpp.io/custom-if': 'memif1/memif' }), pod('web', {})])],
    ]);
    for (const name of ['fast', 'web', 'unknown'])
      warnOfPod(log, state, { namespace: 'default', name });
    assert.deepEqual(texts, ['custom interfaces of pods are not supported yet: pod default/fast']);
  });

  it('changes nothing', async () => {
    const node = new TestNode();
    await node.resync();
    const before = new Map(node.config);
    const key = resources.customnetwork.key('blue', '');
    const value = resources.customnetwork.model.canonical({ name: 'blue' });
    const { error, txn } = await node.put({ resource: 'customnetwork', key, value });
    assert.equal(error, undefined);
    assert.equal(txn.values.size, 0);
    assert.equal((await node.resync()).error, undefined);
    assert.deepEqual(node.config, before);
  });

  it('is counted by the resync that follows an aborted one', async () => {
    const node = new TestNode();
    await node.resync();
    const { resync } = node.policies;
    const aborting = {
      resync: () => {
        throw new Error('test');
      },
    };
    Object.assign(node.policies, aborting);
    const key = resources.customnetwork.key('blue', '');
    const value = resources.customnetwork.model.canonical({ name: 'blue' });
    assert.ok((await node.resync([{ resource: 'customnetwork', key, value }])).error);
    Object.assign(node.policies, { resync });
    assert.equal((await node.heal()).error, undefined);
    assert.deepEqual(node.net.unsupportedFeatures(), ['custom networks (1 object)']);
  });

  it('is listed in README.md', () => {
    const readme = readFileSync('README.md', 'utf8');
    const list = readme.slice(
      readme.indexOf('## Not supported yet'),
      readme.indexOf('## Documentation'),
    );
    const words = list.replace(/\s+/g, ' ');
    for (const { name } of unsupportedFeatures) assert.ok(words.includes(name), name);
  });
});
