import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { externalAddress } from '#plugins/ipam/external-address.ts';
import { allocatedAddresses, ipamPlugin } from '#plugins/podmanager/runtime-call/ipam-plugin.ts';
import { readNetworkConfig } from '#plugins/podmanager/runtime-call/network-config.ts';

/** The section `ipam` that the plugin gets. */
async function given(ipam: object, podCidr = '10.1.1.0/24'): Promise<object> {
  const text = JSON.stringify({
    cniVersion: '1.0.0',
    name: 'k8s',
    type: 'contiv-cni',
    grpcServer: '/run/cni.sock',
    ipam,
  });
  let input = '';
  const plugin = await ipamPlugin(
    {
      network: readNetworkConfig(text),
      environment: {},
      runPlugin: async (_name, _command, sent) => {
        input = sent;
        return { path: '/opt/cni/bin/host-local', status: 0, output: '{}' };
      },
    },
    async () => podCidr,
  );
  await plugin!.run('ADD');
  return JSON.parse(input).ipam;
}

describe('the pod subnet of the node for an IPAM plugin', () => {
  const placeholder = { type: 'host-local', subnet: 'usePodCidr' };

  it('comes with the range that pods can have: without gateway, NAT loopback and broadcast', async () => {
    const range = { rangeStart: '10.1.1.2', rangeEnd: '10.1.1.253' };
    const ipam = { type: 'host-local', subnet: '10.1.1.0/24', ...range };
    assert.deepEqual(await given(placeholder), ipam);
    const { rangeStart, rangeEnd } = (await given(placeholder, 'fd00:1::/64')) as typeof range;
    assert.deepEqual([rangeStart, rangeEnd], ['fd00:1::2', 'fd00:1::ffff:ffff:ffff:fffd']);
    const smallest = (await given(placeholder, '10.1.1.8/29')) as typeof range;
    assert.deepEqual([smallest.rangeStart, smallest.rangeEnd], ['10.1.1.10', '10.1.1.13']);
  });

  it('comes with the configured limits of the range', async () => {
    const limits = { rangeStart: '10.1.1.100', rangeEnd: '10.1.1.200' };
    const ipam = await given({ ...placeholder, ...limits });
    assert.deepEqual(ipam, { type: 'host-local', subnet: '10.1.1.0/24', ...limits });
  });

  it('replaces nothing else', async () => {
    const own = { type: 'host-local', subnet: '10.7.0.0/24' };
    assert.deepEqual(await given(own), own);
  });
});

describe('the addresses that an IPAM plugin has allocated', () => {
  it('are passed on, so that a pod gets the one of its family wherever it is in the list', () => {
    const v4 = { version: '4', address: '10.1.1.9/24', gateway: '10.1.1.1' };
    const v6 = { version: '6', address: 'fd00:1::9/64' };
    const old = { ip4: { ip: '10.1.1.9/24' }, ip6: { ip: 'fd00:1::9/64' } };
    for (const result of [{ ips: [v4, v6] }, { ips: [v6, v4] }, old]) {
      const data = allocatedAddresses(JSON.stringify(result));
      assert.equal(externalAddress(data, 4), '10.1.1.9');
      assert.equal(externalAddress(data, 6), 'fd00:1::9');
    }
  });

  it('are missing in a result without any', () => {
    for (const result of ['null', '{}', '{"ips":[]}', '{"ips":null}', '{"ips":7}'])
      assert.throws(() => allocatedAddresses(result), /returned no address/);
    assert.throws(() => allocatedAddresses(''), /returned an invalid result/);
  });
});
