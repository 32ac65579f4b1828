/** Any sequence of NodeConfigs leads to the state of a fresh start with the last valid one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { fakeVppWithNics } from '../ipv4net/vpp-with.ts';
import { type KubeValue, sorted, TestNode } from '../test-node.ts';

const YAML =
  'crdNodeConfigurationDisabled: false\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';
const KEY = resources.nodeconfig.key('node-a', '');

const name = fc.constantFrom('Gig1', 'Gig2', 'Gig9', '');
const ip = fc.constantFrom('', '10.0.0.1/24', '10.0.0.2/24', '10.0.0.1/24,10.1.0.1/24', 'x');
const entry = fc.record({ interface_name: name, ip, use_dhcp: fc.boolean() });
const nodeConfig = fc
  .record(
    {
      main_vpp_interface: entry,
      other_vpp_interfaces: fc.array(entry, { maxLength: 2 }),
      gateway: fc.constantFrom('', '10.0.0.254', '127.0.0.1', 'x'),
      nat_external_traffic: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .map((input): KubeValue => {
    const value = nodeConfigModel.canonical({ node_name: 'node-a', ...input });
    return { resource: 'nodeconfig', key: KEY, value };
  });

type Step =
  | { readonly do: 'put'; readonly what: KubeValue }
  | { readonly do: 'remove' | 'heal' | 'restart' };
const step = fc.oneof(
  { weight: 4, arbitrary: nodeConfig.map((what): Step => ({ do: 'put', what })) },
  fc.constantFrom<Step>({ do: 'remove' }, { do: 'heal' }, { do: 'restart' }),
);

const newNode = () => new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1', 'Gig2') });

/** Runs a step. @returns the node afterwards, which is another one after a restart */
async function run(node: TestNode, one: Step): Promise<TestNode> {
  const state = node.state();
  const present = state.find(({ key }) => key === KEY);
  if (one.do === 'restart') {
    const next = node.restart();
    assert.equal((await next.resync(state)).error, undefined);
    return next;
  }
  if (one.do === 'heal') assert.equal((await node.heal()).error, undefined);
  if (one.do === 'put') assert.equal((await node.put(one.what)).error, undefined);
  if (one.do === 'remove' && present) assert.equal((await node.remove(present)).error, undefined);
  return node;
}

describe('a sequence of NodeConfigs', () => {
  it('ends as a fresh start with the last valid one, and a resync changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(nodeConfig, fc.array(step, { maxLength: 8 }), async (first, steps) => {
        let node = newNode();
        assert.equal((await node.resync([first])).error, undefined);
        const decision = () => node.conf.nodeConfigVerdict()?.decision;
        // undefined: none was valid yet; null: that the node has none
        let last: KubeValue | null | undefined = decision() === 'applied' ? first : undefined;
        let current: KubeValue | undefined = first;
        for (const one of steps) {
          node = await run(node, one);
          if (one.do === 'put') current = one.what;
          if (one.do === 'remove') current = undefined;
          if (current === undefined) last = null;
          else if (decision() === 'applied') last = current;
        }
        const built = sorted(node.config);
        assert.equal((await node.heal()).error, undefined);
        assert.deepEqual(sorted(node.config), built);

        const fresh = newNode();
        const start = last === undefined ? current : last;
        assert.equal((await fresh.resync(start ? [start] : [])).error, undefined);
        assert.deepEqual(sorted(fresh.config), built);
        assert.equal((await node.add('web', 'c1')).error, undefined);
      }),
      { numRuns: 100 },
    );
  });
});
