/** The suite for every IPAM, over the one that agents have and over the one of the example. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIpam } from '#plugins/ipam/plugin.ts';
import {
  AddressInUseError,
  createStaticIpam,
  NotListedError,
} from '../../../examples/plugin/static-ipam.ts';
import { addressOf, TestNode } from '../test-node.ts';
import { ipamSuite, PODS } from './ipam-suite.ts';

ipamSuite('plugins/ipam', createIpam);

/** In descending order, which differs from the order of a pool. */
const listed = Array.from(
  { length: PODS },
  (_, n) => [`default/p${n}`, `10.1.1.${29 - n}`] as const,
);
const addresses = new Map<string, string>([
  ...listed,
  ['default/elsewhere', '10.1.2.5'],
  ['default/nowhere', 'no address'],
]);
ipamSuite('examples/plugin/static-ipam.ts', (deps) => createStaticIpam({ addresses, ...deps }));

describe('examples/plugin/static-ipam.ts', () => {
  const yaml =
    'ipamConfig:\n  podSubnetCIDR: 10.1.0.0/16\n  nodeInterconnectCIDR: 192.168.16.0/24\n';
  const started = async () => {
    const node = new TestNode({
      yaml,
      createIpam: (deps) => createStaticIpam({ addresses, ...deps }),
    });
    await node.resync();
    return node;
  };

  it('gives what the list says, through the whole chain of handlers', async () => {
    const node = await started();
    assert.equal(addressOf(await node.add('p2', 'c2')), '10.1.1.27');
    assert.ok([...node.config.keys()].some((key) => key.includes('/dst/10.1.1.27/32')));
  });

  it('refuses an address of another node, and one that is none', async () => {
    const node = await started();
    for (const pod of ['elsewhere', 'nowhere', 'not-listed'])
      assert.ok((await node.add(pod, `c-${pod}`)).error instanceof NotListedError, pod);
  });

  it('rejects the second container of a pod until the first is deleted', async () => {
    const node = await started();
    addressOf(await node.add('p0', 'c0'));
    assert.ok((await node.add('p0', 'd0')).error instanceof AddressInUseError);
    await node.del('p0', 'c0');
    assert.equal(addressOf(await node.add('p0', 'd0')), '10.1.1.29');
  });
});
