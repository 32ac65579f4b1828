import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KeyTemplate } from '#models/key-template.ts';
import * as linuxDerived from '#models/linux/derived.ts';
import * as derived from '#models/vpp/derived.ts';
import { fibEntryKey } from '#models/vpp/fib-entry.ts';
import { vppRouteKey } from '#models/vpp/route.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import { cidrText, ipText, macText, nameText } from './arbitrary.ts';

const parts: Readonly<Record<string, fc.Arbitrary<string>>> = {
  iface: nameText,
  lender: nameText,
  bond: nameText,
  host: fc.constantFrom('eth0', 'vpp1'),
  acl: fc.constantFrom('contiv/vpp-policy-ACL1', 'a'),
  bd: fc.constantFrom('vxlanBD', 'a/b'),
  source: fc.constantFrom('static', 'from_dhcp', 'alloc_ref'),
  address: cidrText,
  destination: cidrText,
  addresses: fc.constantFrom('10.1.1.1', '10.1.1.1-10.1.1.9'),
  vrf: fc.nat(100).map(String),
  network: ipText,
  queue: fc.nat(8).map(String),
  version: fc.constantFrom('v4', 'v6', 'both'),
  state: fc.constantFrom('UP', 'DOWN'),
  flow: fc.constantFrom('ingress', 'egress'),
  direction: fc.constantFrom('ingress', 'egress'),
  range: fc.constantFrom('10.1.1.1', '10.1.1.1-10.1.1.9'),
  feature: fc.constantFrom('in', 'out'),
  twice: fc.constantFrom('on', 'off'),
  ip: ipText,
};

const templates = Object.entries({ ...derived, ...linuxDerived }).filter(
  (entry): entry is [string, KeyTemplate<string>] =>
    typeof entry[1] === 'object' && 'parse' in entry[1],
);

/** Names of the parts, found by building a key from a proxy. */
function partNames(template: KeyTemplate<string>): readonly string[] {
  const seen = new Set<string>();
  const noted = (_: object, name: string | symbol): string => {
    seen.add(String(name));
    return 'x';
  };
  template.build(new Proxy({}, { get: noted }) as never);
  return [...seen];
}

test('there are templates to check', () => assert.ok(templates.length > 10));

for (const [name, template] of templates) {
  test(`${name}: parse gives back what build was given`, () => {
    const shape = Object.fromEntries(
      partNames(template).map((part) => {
        const arbitrary = parts[part];
        assert.ok(arbitrary !== undefined, part);
        return [part, arbitrary];
      }),
    );
    fc.assert(
      fc.property(fc.record(shape, { noNullPrototype: true }), (given) => {
        assert.deepEqual(template.parse(template.build(given as never)), given);
      }),
    );
  });
}

test('routes: parse gives back what build was given', () => {
  const outgoing = fc.oneof(fc.constant(''), nameText);
  const nextHop = fc.oneof(fc.constant(''), ipText);
  fc.assert(
    fc.property(outgoing, fc.nat(), cidrText, nextHop, (out, vrf, destination, hop) => {
      const given = { outgoingInterface: out, vrf, destination, nextHop: hop };
      assert.deepEqual(vppRouteKey.parse(vppRouteKey.build(given)), given);
    }),
  );
});

test('entries of a bridge domain: parse gives back what build was given', () => {
  const mac = macText.map((text) => text.toLowerCase());
  fc.assert(
    fc.property(nameText, mac, (bd, address) => {
      const key = fibEntryKey.build({ bd, mac: address });
      assert.deepEqual(fibEntryKey.parse(key), { bd, mac: address });
    }),
  );
});

test('keys are those of the Go agent', () => {
  const { interfaceAddressKey, interfaceVrfKey, bridgedInterfaceKey, linkStateKey } = derived;
  assert.equal(
    interfaceAddressKey.build({ iface: 'loop', source: 'static', address: '10.1.1.1/24' }),
    'vpp/interface/loop/address/static/10.1.1.1/24',
  );
  assert.equal(interfaceAddressKey.prefix({ iface: 'loop' }), 'vpp/interface/loop/address/');
  assert.equal(
    interfaceVrfKey.build({ iface: 'loop', vrf: 1, version: 'both' }),
    'vpp/interface/loop/vrf/1/ip-version/both',
  );
  assert.equal(
    bridgedInterfaceKey.build({ bd: 'vxlanBD', iface: 'vxlanBVI' }),
    'vpp/bd/vxlanBD/interface/vxlanBVI',
  );
  assert.equal(
    linkStateKey.build({ iface: 'GigabitEthernet0/8/0', state: 'UP' }),
    'vpp/interface/GigabitEthernet0/8/0/link-state/UP',
  );
  assert.equal(derived.unnumberedKey.build({ iface: '' }), 'vpp/interface/unnumbered/<invalid>');
});

test('keys of another kind are not parsed', () => {
  assert.equal(derived.interfaceVrfKey.parse('vpp/interface/a/vrf/from-interface/b'), undefined);
  assert.equal(derived.inheritedVrfKey.parse('vpp/interface/a/vrf/1/ip-version/v4'), undefined);
  assert.equal(derived.interfaceHasAddressKey.parse('vpp/interface/a/address/static/b'), undefined);
  assert.equal(vrfTableKey.parse('config/vpp/v2/vrf-table/id/x/protocol/IPV4'), undefined);
  assert.equal(vppRouteKey.parse('config/vpp/v2/arp/a/10.1.1.1'), undefined);
});
