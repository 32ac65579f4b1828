import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { type BandwidthLimit, bandwidthLimitModel } from '#models/vpp/bandwidth-limit.ts';
import type { KubeValue, TestNode } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';
import { startedNode } from './wired-node.ts';

interface Asked {
  readonly ingress?: string;
  readonly egress?: string;
}

function pod(name: string, asked: Asked): KubeValue {
  const annotations = Object.fromEntries(
    Object.entries(asked).map(([direction, text]) => [
      `kubernetes.io/${direction}-bandwidth`,
      text,
    ]),
  );
  const value = podModel.canonical({ name, namespace: 'default', annotations });
  return { resource: 'pod', key: resources.pod.key(name, 'default'), value };
}

/** `<interface> <direction> <kbit/s>` */
function limits(node: TestNode): string[] {
  const values = [...node.config].filter(([key]) => key.startsWith(bandwidthLimitModel.keyPrefix));
  return values
    .map(([, value]) => value as BandwidthLimit)
    .map(({ interface: iface, direction, rate_kbps }) => `${iface} ${direction} ${rate_kbps}`)
    .sort();
}

describe('bandwidth of pods', () => {
  it('is limited from Add Pod to Delete Pod, and follows the record', async () => {
    const node = await startedNode();
    await node.put(pod('web', { ingress: '10M', egress: '1.5M' }));
    await node.add('web', 'c1');
    await node.add('db', 'c2');
    const both = ['vpp-tap-c1 INPUT 1500', 'vpp-tap-c1 OUTPUT 10000'];
    assert.deepEqual(limits(node), both);
    assert.ok(node.net.podKeys('c1/eth0').some((key) => key.endsWith('direction/OUTPUT')));
    await node.put(pod('db', { egress: '1Gi' }));
    assert.deepEqual(limits(node), [...both, 'vpp-tap-c2 INPUT 1073742']);
    await node.put(pod('web', { egress: '1500001' }));
    assert.deepEqual(limits(node), ['vpp-tap-c1 INPUT 1501', 'vpp-tap-c2 INPUT 1073742']);
    await node.put(pod('web', {}));
    await node.del('db', 'c2');
    assert.deepEqual(limits(node), []);
    assert.deepEqual(node.net.podBandwidth('c1/eth0'), undefined);
  });

  it('lets half a second pass at once, and several of the largest packets', async () => {
    const node = await startedNode();
    await node.add('web', 'c1');
    for (const [asked, burst_bytes] of [
      ['1k', 262_144],
      ['80M', 5_000_000],
      ['1P', 0x7fff_ffff],
    ] as const) {
      await node.put(pod('web', { egress: asked }));
      const value = [...node.config].find(([key]) => key.startsWith(bandwidthLimitModel.keyPrefix));
      assert.equal((value![1] as BandwidthLimit).burst_bytes, burst_bytes, asked);
    }
  });

  it('is not limited by a value that cannot be used, which is reported', async () => {
    const node = await startedNode();
    await node.put(pod('web', { ingress: '10Mbit', egress: '20M' }));
    await node.add('web', 'c1');
    assert.deepEqual(limits(node), ['vpp-tap-c1 INPUT 20000']);
    assert.deepEqual(node.net.bandwidthProblems(), [
      'default/web: no limit of bandwidth: kubernetes.io/ingress-bandwidth: "10Mbit" is no quantity, such as 10M',
    ]);
    await node.put(pod('web', { ingress: '999', egress: '1001T' }));
    assert.deepEqual(limits(node), []);
    assert.deepEqual(node.net.podBandwidth('c1/eth0'), {
      limits: {},
      problems: [
        'kubernetes.io/ingress-bandwidth: "999" is less than 1k bits a second',
        'kubernetes.io/egress-bandwidth: "1001T" is more than 1P bits a second',
      ],
    });
    await node.put(pod('web', { ingress: '1k', egress: '1P' }));
    assert.deepEqual(limits(node), ['vpp-tap-c1 INPUT 4294967295', 'vpp-tap-c1 OUTPUT 1']);
    assert.deepEqual(node.net.bandwidthProblems(), []);
  });

  it('is the same after a resync', async () => {
    const node = await startedNode();
    await node.put(pod('web', { ingress: '10M' }));
    await node.add('web', 'c1');
    const before = limits(node);
    assert.equal(before.length, 1);
    await node.heal();
    assert.deepEqual(limits(node), before);
    await node.del('web', 'c1');
    assert.deepEqual(limits(node), []);
  });

  it('is not limited by a VPP without policers: its pods run, and the reason is reported', async () => {
    const vpp = fakeVppWithNics('Gig1');
    vpp.policers = false;
    const node = await startedNode({ vpp });
    await node.put(pod('web', { ingress: '10M' }));
    await node.add('web', 'c1');
    assert.deepEqual(limits(node), []);
    assert.match(node.net.bandwidthProblems().join(), /^default\/web: .*plugin is not loaded$/);
    vpp.policers = true;
    await node.heal();
    assert.deepEqual(limits(node), ['vpp-tap-c1 OUTPUT 10000']);
  });
});
