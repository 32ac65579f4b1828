import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { PLAN_KEY } from '#plugins/ipam/plan-record.ts';
import { addressOf, nodeValue, TestNode } from '../test-node.ts';

const state = [nodeValue('node-a', '172.16.0.5')];

async function started(ipamConfig: string): Promise<TestNode> {
  const node = new TestNode({ yaml: `ipamConfig: {${ipamConfig}}` });
  await node.resync(state);
  return node;
}

/** Restarts the agent with other subnets. */
async function restarted(node: TestNode, ipamConfig: string): Promise<TestNode> {
  const next = node.restart({ yaml: `ipamConfig: {${ipamConfig}}` });
  const { error } = await next.resync(state);
  assert.equal(error, undefined);
  return next;
}

const problems = (node: TestNode) =>
  node.ipam.problems!().map(({ code, message }) => `${code} ${message}`);

const routesOfPod = (node: TestNode, address: string) =>
  [...node.config.keys()].filter((key) => key.includes(`/dst/${address}/32/`));

const BEFORE = 'contivCIDR: 10.128.0.0/14';

/** Settings that move the pod subnet, and their values before and after. */
const changes: readonly (readonly [string, string, string, RegExp])[] = [
  ['contivCIDR', BEFORE, 'contivCIDR: 10.64.0.0/14', /contivCIDR 10.128.0.0\/14 to 10.64.0.0\/14/],
  ['contivCIDR, removed', BEFORE, '', /contivCIDR 10.128.0.0\/14 to \(none\)/],
  ['contivCIDR, added', '', BEFORE, /contivCIDR \(none\) to 10.128.0.0\/14/],
  ['podSubnetCIDR', '', 'podSubnetCIDR: 10.2.0.0/16', /podSubnetCIDR 10.1.0.0\/16 to 10.2/],
  [
    'podSubnetOneNodePrefixLen',
    '',
    'podSubnetOneNodePrefixLen: 26',
    /podSubnetOneNodePrefixLen 24 to 26/,
  ],
  [
    'the family',
    '',
    'podSubnetCIDR: "fd01::/48", podSubnetOneNodePrefixLen: 64, vppHostSubnetCIDR: "fd02::/48", vppHostSubnetOneNodePrefixLen: 64, vxlanCIDR: "fd04::/64", serviceCIDR: "fd05::/108"',
    /podSubnetCIDR 10.1.0.0\/16 to fd01::\/48/,
  ],
];

describe('subnets that change while pods run', () => {
  for (const [setting, before, after, named] of changes)
    it(`${setting}: takes effect when the last pod is deleted`, async () => {
      const old = await started(before);
      const address = addressOf(await old.add('web', 'c1'));
      const subnet = old.ipam.podSubnetThisNode();

      const node = await restarted(old, after);
      assert.equal(node.ipam.podSubnetThisNode(), subnet);
      assert.equal(routesOfPod(node, address).length, 1);
      const [problem = '', ...more] = problems(node);
      assert.deepEqual(more, []);
      assert.match(problem, /^CV_IPAM_SUBNETS_IN_USE /);
      assert.match(problem, named);
      assert.ok(problem.includes(`default/web (${address})`), problem);

      // the subnets stay in use for new pods, also after another restart
      const again = await restarted(node, after);
      const second = addressOf(await again.add('db', 'c2'));
      assert.equal(again.ipam.podSubnetThisNode(), subnet);
      await again.del('web', 'c1');
      assert.equal(problems(again).length, 1);
      assert.equal(routesOfPod(again, second).length, 1);

      await again.del('db', 'c2');
      assert.deepEqual(problems(again), []);
      assert.notEqual(again.ipam.podSubnetThisNode(), subnet);
      addressOf(await again.add('new', 'c3'));
    });

  it('take effect at once without pods', async () => {
    const node = await restarted(await started(BEFORE), '');
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.1.0/24');
    assert.deepEqual(problems(node), []);
  });

  it('take effect at once where all pods are inside of the new ones', async () => {
    const old = await started('');
    const address = addressOf(await old.add('web', 'c1'));
    const node = await restarted(old, 'podSubnetCIDR: 10.1.0.0/17, vxlanCIDR: 192.168.40.0/24');
    assert.deepEqual(problems(node), []);
    assert.equal(node.ipam.vxlanAddress(1), '192.168.40.1/24');
    assert.equal(routesOfPod(node, address).length, 1);
  });

  it('leave the pods connected while the local store cannot record them', async () => {
    const old = await started('');
    const address = addressOf(await old.add('web', 'c1'));
    const node = old.restart({ yaml: 'ipamConfig: {vxlanCIDR: 192.168.40.0/24}' });
    node.local.beforeWrite = () => {
      throw new StoreUnavailableError('full');
    };
    for (const { error } of [await node.resync(state), await node.heal()])
      assert.equal(error, undefined);
    assert.equal(routesOfPod(node, address).length, 1);
    const recorded = () => node.localStore.get(PLAN_KEY);
    assert.ok((await node.add('db', 'c2')).error instanceof StoreUnavailableError);
    assert.doesNotMatch((await recorded())!, /192\.168\.40/);
    node.local.beforeWrite = undefined;
    addressOf(await node.add('db', 'c2'));
    assert.match((await recorded())!, /192\.168\.40/, 'before an address is allocated');
  });

  it('keep a pod connected that was added after the resync to the new ones was aborted', async () => {
    const old = await started('');
    await old.add('web', 'c1');
    const node = await restarted(old, BEFORE);
    const endAborting = node.abortResyncs();
    await node.del('web', 'c1');
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.1.0/24');
    const address = addressOf(await node.add('db', 'c2'));
    endAborting();
    assert.equal((await node.heal()).error, undefined);
    assert.equal(node.ipam.podSubnetThisNode(), '10.1.1.0/24');
    assert.match(problems(node).join(), /^CV_IPAM_SUBNETS_IN_USE /);
    const again = await restarted(node, BEFORE);
    assert.equal(routesOfPod(again, address).length, 1);
    await again.del('db', 'c2');
    assert.notEqual(again.ipam.podSubnetThisNode(), '10.1.1.0/24');
  });

  it('are restored without a trace', async () => {
    const old = await started('');
    await old.add('web', 'c1');
    const changed = await restarted(old, BEFORE);
    assert.equal(problems(changed).length, 1);
    const node = await restarted(changed, '');
    assert.deepEqual(problems(node), []);
    assert.deepEqual(Object.fromEntries(node.config), Object.fromEntries(old.config));
  });

  it('name the pods that are cut off where the previous subnets are unknown', async () => {
    const old = await started('');
    await old.add('web', 'c1');
    await old.localStore.delete(PLAN_KEY);
    const node = await restarted(old, BEFORE);
    assert.match(problems(node).join(), /^CV_IPAM_POD_OUTSIDE default\/web \(10\.1\.1\.2\) cannot/);
    await node.del('web', 'c1');
    assert.deepEqual(problems(node), []);
  });

  it('are read from an invalid record as if there was none', async () => {
    const node = await started('');
    await node.add('web', 'c1');
    for (const text of ['', 'null', '{', '{"contivCidr":1}', '[]']) {
      await node.localStore.put(PLAN_KEY, text);
      assert.deepEqual(problems(await restarted(node, '')), []);
    }
  });
});
