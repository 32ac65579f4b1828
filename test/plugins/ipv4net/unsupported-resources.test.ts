import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import {
  isUnsupported,
  warnOfPod,
  warnOfResource,
  warnOfResources,
} from '#plugins/ipv4net/unsupported-resources.ts';
import { TestNode } from '../test-node.ts';

function logged() {
  const texts: string[] = [];
  const log = { warn: (_: unknown, text?: unknown) => void texts.push(String(text)) };
  return { texts, log };
}

describe('what is not supported yet', () => {
  it('is named with its key, resource by resource', () => {
    const { texts, log } = logged();
    const state: KubeState = new Map([
      ['customnetwork', new Map([['k8s/customnetwork/blue', {}]])],
      ['external-interface', new Map([['k8s/external-interface/out', {}]])],
      ['service', new Map([['k8s/service/web', {}]])],
    ]);
    warnOfResources(log, state);
    warnOfResource(log, 'servicefunctionchain', 'k8s/servicefunctionchain/firewall');
    assert.deepEqual(texts, [
      'custom networks are not supported yet: k8s/customnetwork/blue has no effect',
      'external interfaces are not supported yet: k8s/external-interface/out has no effect',
      'service chains are not supported yet: k8s/servicefunctionchain/firewall has no effect',
    ]);
    assert.deepEqual(
      ['customnetwork', 'external-interface', 'servicefunctionchain', 'service'].map(isUnsupported),
      [true, true, true, false],
    );
  });

  it('is named for a pod that asks for more than its main interface', () => {
    const { texts, log } = logged();
    const pod = (name: string, annotations: Record<string, string>) =>
      [
        resources.pod.key(name, 'default'),
        podModel.canonical({ name, namespace: 'default', annotations }),
      ] as const;
    const state: KubeState = new Map([
      ['pod', new Map([pod('fast', { 'contivpp.io/custom-if': 'memif1/memif' }), pod('web', {})])],
    ]);
    for (const name of ['fast', 'web', 'unknown'])
      warnOfPod(log, state, { namespace: 'default', name });
    assert.equal(texts.length, 1);
    assert.match(texts[0]!, /custom interfaces are not supported yet: pod default\/fast/);
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
});
