import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseIp } from '#models/ip.ts';
import { AddressRules, addressUses, whyNoHost } from '#plugins/nodesync/api.ts';

const rules = new AddressRules({
  addresses: ['192.168.16.1', '172.16.0.5'],
  gateways: ['192.168.16.254'],
  subnets: {
    'pod subnet': ['10.1.0.0/16'],
    'service subnet': ['10.96.0.0/12'],
    'host link subnet': ['172.30.0.0/16'],
    'VXLAN subnet': ['192.168.30.0/24'],
  },
});

/** The uses for which an address is refused. */
function refusedFor(address: string): string[] {
  return addressUses.filter((use) => rules.whyNot(use, parseIp(address)) !== undefined);
}

describe('an address from outside', () => {
  it('that no host can have has no use, in both families', () => {
    const addresses = ['0.0.0.0', '127.0.0.1', '224.0.0.5', '255.255.255.255', '240.0.0.1'];
    for (const address of [...addresses, '::', '::1', 'ff02::1', 'fe80::1', 'none', '']) {
      assert.deepEqual(refusedFor(address), [...addressUses], address);
      assert.match(whyNoHost(address)?.phrase ?? '', /^is /, address);
    }
    for (const address of ['10.0.0.1', '192.168.16.255', 'fd00::1', '2001:db8::1']) {
      assert.deepEqual(refusedFor(address), [], address);
      assert.equal(whyNoHost(address), undefined, address);
    }
    assert.deepEqual(
      refusedFor('169.254.169.254'),
      addressUses.filter((use) => use !== 'tunnel end'),
    );
  });

  it('that this node uses is refused where it would cut off this node', () => {
    const [nodePort, agent, external] = ['node port', 'agent', 'external address'];
    assert.deepEqual(refusedFor('172.16.0.5'), ['route', 'tunnel end', nodePort, agent]);
    assert.deepEqual(refusedFor('192.168.16.254'), ['route', nodePort, external]);
    assert.deepEqual(refusedFor('10.1.9.9'), ['route', 'tunnel end', nodePort, agent, external]);
    assert.deepEqual(refusedFor('10.96.0.1'), ['route', nodePort, agent]);
    assert.deepEqual(refusedFor('172.30.1.2'), ['route', nodePort, external]);
    assert.deepEqual(refusedFor('192.168.30.7'), ['route', nodePort, external]);
  });
});
