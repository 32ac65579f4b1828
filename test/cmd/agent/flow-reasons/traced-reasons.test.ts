/** Reasons by the packet trace, on the actual state of a simulated node. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Flow } from '#documents/flows.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import { SimulatedCluster } from '#test/packet-trace/simulated-cluster.ts';
import { TracedReasons } from '../../../../src/cmd/agent/flow-reasons/traced-reasons.ts';

/** No node has this subnet of pods. */
const NOWHERE = '10.1.77.5';

describe('reasons by the packet trace', { timeout: 120_000 }, () => {
  let cluster: SimulatedCluster;
  let near = '';
  let other = '';
  let snapshot: NodeSnapshot;
  before(async () => {
    cluster = await SimulatedCluster.start(true);
    const [node] = cluster.nodes;
    near = await cluster.pod(node!, 'near');
    other = await cluster.pod(node!, 'other');
    snapshot = (await node!.running.get('/trace/node')).body as NodeSnapshot;
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  function asked() {
    const clock = new ManualClock();
    let reads = 0;
    const reasons = new TracedReasons({
      readSnapshot: async () => {
        reads++;
        return snapshot;
      },
      clock,
    });
    const find = (address: string, protocol: Flow['protocol'] = 'TCP') =>
      reasons.find({
        protocol,
        client: { address: near, port: 40_000, kind: 'pod', name: 'default/near', workload: '' },
        server: { address, port: 80, kind: 'pod', name: '', workload: '' },
      } as Flow);
    return { clock, find, reads: () => reads };
  }

  for (const protocol of ['TCP', 'UDP'] as const)
    it(`name the place where a packet of ${protocol} is dropped`, async () => {
      const { find } = asked();
      assert.match(String(await find(NOWHERE, protocol)), /^packet trace: node1\/vpp .*/);
    });

  it('are none where packets and replies pass', async () => {
    const { find, reads } = asked();
    assert.equal(await find(other), undefined);
    assert.equal(reads(), 1);
  });

  it('hold for the same ends for a minute, and others wait for 10 s', async () => {
    const { clock, find, reads } = asked();
    const reason = await find(NOWHERE);
    assert.equal(await find(NOWHERE, 'UDP'), undefined);
    assert.equal(await find(NOWHERE), reason);
    assert.equal(reads(), 1);
    await clock.advance(10_000);
    assert.match(String(await find(NOWHERE, 'UDP')), /^packet trace/);
    assert.equal(reads(), 2);
    await clock.advance(50_000);
    assert.equal(await find(NOWHERE), reason);
    assert.equal(reads(), 3);
  });

  it('are none for a prefix of an address', async () => {
    const { find, reads } = asked();
    assert.equal(await find('203.0.113.0/24'), undefined);
    assert.equal(reads(), 0);
  });
});
