import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { networkCidrRule } from '#models/address-rules.ts';
import * as ip from '#models/ip.ts';
import { cidrText, ipText } from './arbitrary.ts';

const formatted = (text: string): string | undefined => {
  const bytes = ip.parseIp(text);
  return bytes && ip.formatIp(bytes);
};

test('IPv6 has the spelling of RFC 5952, IPv4 in IPv6 becomes IPv4', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['2001:DB8::0001', '2001:db8::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::', '::'],
    ['1::', '1::'],
    ['0:0:1:0:0:0:1:0', '0:0:1::1:0'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['64:ff9b::10.1.2.3', '64:ff9b::a01:203'],
  ];
  for (const [text, expected] of cases) assert.equal(formatted(text), expected);
});

test('invalid addresses are rejected', () => {
  const bad = ['', '1.2.3', '1.2.3.4.5', '1.2.3.256', '01.2.3.4', '1.2.3.', '.1.2.3', '1.2.3.4 '];
  bad.push(
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    'g::',
    '1.2.3.4::',
  );
  bad.push('1:2:3:4:5:6:7::8', '::1%eth0', '::1.2.3');
  for (const text of bad) assert.equal(ip.parseIp(text), undefined, text);
});

test('every address is parsed and formatted consistently, and is valid for Node.js', () => {
  fc.assert(
    fc.property(ipText, (text) => {
      const canonical = formatted(text);
      assert.ok(canonical !== undefined && (isIPv4(canonical) || isIPv6(canonical)), canonical);
      assert.equal(formatted(canonical), canonical);
      assert.equal(canonical.includes('.') ? 4 : 16, ip.parseIp(text)?.length);
    }),
  );
});

test('random text is an address exactly if Node.js accepts it', () => {
  const text = fc.stringMatching(/^[0-9a-f:.]{0,20}$/);
  fc.assert(
    fc.property(text, (candidate) => {
      assert.equal(ip.parseIp(candidate) !== undefined, isIPv4(candidate) || isIPv6(candidate));
    }),
    { numRuns: 2000 },
  );
});

test('a network is masked, contains its members and nothing else', () => {
  assert.equal(networkCidrRule('10.1.2.3/24'), '10.1.2.0/24');
  assert.equal(networkCidrRule('10.1.255.3/23'), '10.1.254.0/23');
  assert.equal(networkCidrRule('255.255.255.255/0'), '0.0.0.0/0');
  assert.equal(networkCidrRule('fd00:1::5/64'), 'fd00:1::/64');
  for (const bad of [
    '10.1.2.3',
    '10.1.2.3/33',
    '10.1.2.3/-1',
    '10.1.2.3/ 8',
    '1::/129',
    '1::/08',
  ]) {
    assert.throws(() => networkCidrRule(bad), bad);
  }
  fc.assert(
    fc.property(cidrText, ipText, (text, other) => {
      const cidr = ip.parseCidr(text);
      const address = ip.parseIp(other);
      assert.ok(cidr !== undefined && address !== undefined);
      assert.ok(ip.contains(cidr, cidr.address));
      const inside =
        address.length === cidr.address.length &&
        networkCidrRule(`${other}/${cidr.length}`) === networkCidrRule(text);
      assert.equal(ip.contains(cidr, address), inside);
    }),
  );
});

test('the last address of a network is in it, and is the last one', () => {
  const last = (text: string) => ip.formatIp(ip.lastAddress(ip.parseCidr(text)!));
  assert.equal(last('10.1.2.3/24'), '10.1.2.255');
  assert.equal(last('10.1.2.3/31'), '10.1.2.3');
  assert.equal(last('10.1.2.3/32'), '10.1.2.3');
  assert.equal(last('10.1.2.3/12'), '10.15.255.255');
  assert.equal(last('fd00::5/126'), 'fd00::7');
  fc.assert(
    fc.property(cidrText, (text) => {
      const cidr = ip.parseCidr(text)!;
      const address = ip.lastAddress(cidr);
      assert.ok(ip.contains(cidr, address));
      assert.equal(ip.formatIp(ip.lastAddress({ ...cidr, address })), ip.formatIp(address));
    }),
  );
});

test('MAC addresses have one spelling', () => {
  const spelled = (text: string): string | undefined => {
    const bytes = ip.parseMac(text);
    return bytes && ip.formatMac(bytes);
  };
  assert.equal(spelled('02-FE-00-11-22-33'), '02:fe:00:11:22:33');
  for (const bad of ['02:fe:00:11:22', '02:fe:00:11:22:3', '02:fe-00:11:22:33', '02fe.0011.2233']) {
    assert.equal(spelled(bad), undefined, bad);
  }
});

test('spellings that the API server accepts are read as ParseIPSloppy and ParseCIDRSloppy read them', () => {
  const addresses: readonly (readonly [string, string | undefined])[] = [
    ['10.96.002.004', '10.96.2.4'],
    ['0000010.0.0.08', '10.0.0.8'],
    ['010.010.010.010', '10.10.10.10'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:010.00.0.01', '10.0.0.1'],
    ['0:0:0:0:0:ffff:0a00:0001', '10.0.0.1'],
    ['00002001:db8::00001', '2001:db8::1'],
    ['64:ff9b::010.1.2.3', '64:ff9b::a01:203'],
    ['10.0.0.256', undefined],
    ['10.0.0.0400', undefined],
    ['10.0.0', undefined],
    ['0x0a.0.0.1', undefined],
    ['12345::', undefined],
    ['fe80::1%eth0', undefined],
    [' 10.0.0.1', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of addresses) {
    const bytes = ip.parseKubernetesIp(text);
    assert.equal(bytes && ip.formatIp(bytes), expected, text);
  }
  const cidrs: readonly (readonly [string, string | undefined])[] = [
    ['192.168.010.0/24', '192.168.10.0/24'],
    ['10.0.0.0/08', '10.0.0.0/8'],
    ['010.0.0.0/008', '10.0.0.0/8'],
    ['10.0.0.7/24', '10.0.0.7/24'],
    ['::/00', '::/0'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['::ffff:010.1.2.3/128', '10.1.2.3/32'],
    ['10.0.0.0/033', undefined],
    ['10.0.0.0/+8', undefined],
    ['10.0.0.0/', undefined],
    ['10.0.0.0', undefined],
    ['::/129', undefined],
  ];
  for (const [text, expected] of cidrs) {
    const cidr = ip.parseKubernetesCidr(text);
    assert.equal(cidr && ip.formatCidr(cidr), expected, text);
  }
  // a prefix that is shorter than that of mapped addresses is one of IPv6
  assert.equal(ip.formatCidr(ip.network(ip.parseKubernetesCidr('::ffff:10.0.0.0/8')!)), '::/8');
});

test('whatever is accepted in the standard spelling means the same in an object of Kubernetes', () => {
  fc.assert(
    fc.property(ipText, cidrText, (address, cidr) => {
      assert.deepEqual(ip.parseKubernetesIp(address), ip.parseIp(address));
      assert.deepEqual(ip.parseKubernetesCidr(cidr), ip.parseCidr(cidr));
    }),
  );
});
