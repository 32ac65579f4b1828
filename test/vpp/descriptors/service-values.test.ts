/** Values that the descriptors of NAT44, ACLs and redirects reject, and values that they treat as equal. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { DeepInput } from '#models/model.ts';
import { type AclRule, aclModel } from '#models/vpp/acl.ts';
import { cnatSourceNatModel } from '#models/vpp/cnat-source-nat.ts';
import { cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { type DNat44StaticMapping, dnat44Model } from '#models/vpp/dnat44.ts';
import { ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { puntToHostModel } from '#models/vpp/punt-to-host.ts';
import { stnRuleModel } from '#models/vpp/stn-rule.ts';
import { assertAccepted, assertRejected, descriptorOf } from '#test/descriptors/validation.ts';
import { cidrText } from '#test/models/arbitrary.ts';
import { fromRule, sameRule, toRule } from '#vpp/descriptors/acl/rule.ts';
import { sharesOf } from '#vpp/descriptors/nat44/mapping.ts';
import { mappingTag, tagReader } from '#vpp/descriptors/nat44/mapping-tag.ts';

const web = { external_ip: '10.96.0.10', external_port: 80 } as const;
const backend = (last: number) => ({ local_ip: `10.1.1.${last}`, local_port: 8080 });

function mapped(st_mapping: DeepInput<DNat44StaticMapping>) {
  return { label: 's', st_mappings: [st_mapping] };
}

function ruled(rule: DeepInput<AclRule>) {
  return { name: 'a', rules: [rule] };
}

describe('refused before anything is sent', () => {
  test('translations of cnat', () => {
    const one = { ip_address: 'fd01::2', port: 80 };
    const valid = { external_ip: 'fd16::1', external_port: 80, backends: [one] };
    assertRejected('vpp-cnat-translation', cnatTranslationModel, [
      [{ ...valid, external_ip: '' }, 'external_ip'],
      [{ ...valid, external_ip: '10.0.0.1' }, 'external_ip'],
      [{ ...valid, external_ip: '::' }, 'external_ip'],
      [{ ...valid, external_port: 0 }, 'backends[0].port'],
      [{ ...valid, external_port: 65_536 }, 'external_port'],
      [{ ...valid, source_ip: '10.0.0.1' }, 'source_ip'],
      [{ ...valid, source_ip: '::' }, 'source_ip'],
      [{ ...valid, backends: [] }, 'backends'],
      [{ ...valid, backends: [one, one] }, 'backends'],
      [{ ...valid, backends: [one, { ...one, ip_address: '10.0.0.1' }] }, 'backends[0].ip_address'],
      [{ ...valid, backends: [{ ...one, port: 0 }] }, 'backends[0].port'],
    ]);
    assertAccepted('vpp-cnat-translation', cnatTranslationModel, [
      valid,
      { ...valid, source_ip: 'fd01::fffe', client_affinity: true, protocol: 'UDP' },
      { ...valid, external_port: 0, backends: [{ ...one, port: 0 }] },
    ]);
    const source = { interface: 'edge', address: 'fd16::1' };
    assertRejected('vpp-cnat-source-nat', cnatSourceNatModel, [
      [{ ...source, interface: '' }, 'interface'],
      [{ ...source, address: '' }, 'address'],
      [{ ...source, address: '10.0.0.1' }, 'address'],
    ]);
    assertAccepted('vpp-cnat-source-nat', cnatSourceNatModel, [source]);
  });
  test('NAT44', () => {
    const a = { name: 'a' };
    const address = { address: '10.1.1.1' };
    assertRejected('vpp-nat44-global', nat44GlobalModel, [
      [{ endpoint_independent: true }, 'endpoint_independent'],
      [{ nat_interfaces: [{}] }, 'nat_interfaces'],
      [{ nat_interfaces: [a, a] }, 'nat_interfaces'],
      [{ nat_interfaces: [a, { ...a, output_feature: true }] }, 'nat_interfaces'],
      [{ address_pool: [address, { ...address, vrf_id: 1 }] }, 'address_pool'],
      [{ address_pool: [{}] }, 'address_pool'],
      [{ address_pool: [{ address: 'fd00::1' }] }, 'address_pool'],
      [{ sessions: { max_sessions: 1024 * 1024 + 1 } }, 'sessions.max_sessions'],
      [{ sessions: { several_workers: true } }, 'sessions.several_workers'],
    ]);
    assertAccepted('vpp-nat44-global', nat44GlobalModel, [
      {
        nat_interfaces: [a, { ...a, is_inside: true }],
        address_pool: [address, { ...address, twice_nat: true }],
      },
      { sessions: { max_sessions: 1024 * 1024, udp_timeout: 1 } },
    ]);
    assertRejected('vpp-nat44-interface', nat44InterfaceModel, [
      [{ nat_inside: true }, 'name'],
      [{ ...a }, 'nat_inside'],
      [{ ...a, nat_inside: true, output_feature: true }, 'output_feature'],
      [{ ...a, nat_outside: true, output_feature: true }, 'output_feature'],
      [{ ...a, classify: true }, 'nat_inside'],
      [{ ...a, output_feature: true, classify: true }, 'classify'],
      [{ ...a, nat_inside: true, nat_outside: true, classify: true }, 'classify'],
    ]);
  });

  test('pools', () => {
    assertRejected('vpp-nat44-address-pool', nat44AddressPoolModel, [
      [{ name: 'p' }, 'first_ip'],
      [{ first_ip: 'fd00::1' }, 'first_ip'],
      [{ first_ip: '10.1.1.1', last_ip: 'fd00::1' }, 'last_ip'],
      [{ first_ip: '10.1.1.2', last_ip: '10.1.1.1' }, 'last_ip'],
      [{ first_ip: '10.1.0.0', last_ip: '10.1.4.0' }, 'last_ip'],
    ]);
    assertAccepted('vpp-nat44-address-pool', nat44AddressPoolModel, [
      { first_ip: '10.1.0.0', last_ip: '10.1.3.255' },
      { first_ip: '10.1.1.1', last_ip: '10.1.1.1' },
    ]);
  });

  test('services', () => {
    const first = 'st_mappings[0]';
    const two = [backend(2), backend(3)];
    const many = Array.from({ length: 256 }, (_, n) => backend(n));
    assertRejected('vpp-nat44-dnat', dnat44Model, [
      [{}, 'label'],
      [{ label: 's @30' }, 'label'],
      [{ label: 's @10.1.1.1' }, 'label'],
      [mapped({ external_port: 80, local_ips: [backend(2)] }), `${first}.external_ip`],
      [mapped({ ...web, external_ip: 'fd00::1', local_ips: two }), `${first}.external_ip`],
      [mapped({ ...web, external_interface: 'a', local_ips: two }), `${first}.external_ip`],
      [mapped({ ...web, external_port: 65_536, local_ips: two }), `${first}.external_port`],
      [mapped(web), `${first}.local_ips`],
      [mapped({ ...web, local_ips: [{ local_port: 80 }] }), `${first}.local_ips`],
      [
        mapped({ ...web, local_ips: [{ ...backend(2), local_ip: 'fd00::1' }] }),
        `${first}.local_ips`,
      ],
      [
        mapped({ ...web, local_ips: [{ ...backend(2), local_port: 70_000 }] }),
        `${first}.local_ips`,
      ],
      [mapped({ ...web, local_ips: [backend(2), backend(2)] }), `${first}.local_ips`],
      [mapped({ ...web, local_ips: many }), `${first}.local_ips`],
      [mapped({ ...web, local_ips: [backend(2), { local_ip: '10.1.1.3' }] }), `${first}.local_ips`],
      [mapped({ ...web, external_port: 0, local_ips: two }), `${first}.external_port`],
      [
        mapped({ external_interface: 'a', external_port: 80, local_ips: two }),
        `${first}.external_interface`,
      ],
      [
        mapped({ ...web, external_port: 0, twice_nat: 'SELF', local_ips: [backend(2)] }),
        `${first}.twice_nat`,
      ],
      [
        mapped({ ...web, twice_nat_pool_ip: '10.2.0.1', local_ips: [backend(2)] }),
        `${first}.twice_nat_pool_ip`,
      ],
      [
        mapped({ ...web, twice_nat: 'ENABLED', twice_nat_pool_ip: '10.2.0.1', local_ips: two }),
        `${first}.twice_nat_pool_ip`,
      ],
      [
        {
          label: 's',
          st_mappings: [
            { ...web, local_ips: [backend(2)] },
            { ...web, local_ips: two },
          ],
        },
        'st_mappings',
      ],
      [{ label: 's', id_mappings: [{}] }, 'id_mappings[0].ip_address'],
      [{ label: 's', id_mappings: [{ ip_address: 'fd00::1' }] }, 'id_mappings[0].ip_address'],
      [
        { label: 's', id_mappings: [{ interface: 'a', ip_address: '10.1.1.1' }] },
        'id_mappings[0].ip_address',
      ],
      [
        { label: 's', id_mappings: [{ ip_address: '10.1.1.1', port: 65_536 }] },
        'id_mappings[0].port',
      ],
      [
        // without a port the protocol says nothing
        {
          label: 's',
          id_mappings: [{ ip_address: '10.1.1.1' }, { ip_address: '10.1.1.1', protocol: 'UDP' }],
        },
        'id_mappings',
      ],
      [
        {
          label: 's',
          st_mappings: [{ ...web, local_ips: [backend(2)] }],
          id_mappings: [{ ip_address: web.external_ip, port: 80, vrf_id: 7 }],
        },
        'id_mappings',
      ],
    ]);
    assertAccepted('vpp-nat44-dnat', dnat44Model, [
      { label: 's' },
      mapped({ ...web, session_affinity: 60, local_ips: many.slice(1) }),
      mapped({ external_interface: 'a', local_ips: [{ local_ip: '10.1.1.1' }] }),
    ]);
  });

  test('ACLs', () => {
    const range = { lower_port: 2, upper_port: 1 };
    const high = { lower_port: 1, upper_port: 65_536 };
    const mixed = { source_network: '10.1.0.0/16', destination_network: 'fd00::/64' };
    assertRejected('vpp-acl', aclModel, [
      [{ rules: [{}] }, 'name'],
      [{ name: 'cli', rules: [{}] }, 'name'],
      [{ name: 'a' }, 'rules'],
      [ruled({ macip_rule: {} }), 'rules[0].macip_rule'],
      [ruled({ ip_rule: { ip: mixed } }), 'rules[0].ip_rule.ip'],
      [ruled({ ip_rule: { ip: { protocol: 256 } } }), 'rules[0].ip_rule.ip.protocol'],
      [ruled({ ip_rule: { tcp: {}, udp: {} } }), 'rules[0].ip_rule'],
      [
        ruled({ ip_rule: { ip: { source_network: 'fd00::/64' }, icmp: {} } }),
        'rules[0].ip_rule.icmp.icmpv6',
      ],
      [
        ruled({ ip_rule: { icmp: { icmp_type_range: { first: 1, last: 256 } } } }),
        'rules[0].ip_rule.icmp',
      ],
      [ruled({ ip_rule: { tcp: { source_port_range: range } } }), 'rules[0].ip_rule.tcp'],
      [ruled({ ip_rule: { udp: { destination_port_range: high } } }), 'rules[0].ip_rule.udp'],
      [ruled({ ip_rule: { tcp: { tcp_flags_mask: 256 } } }), 'rules[0].ip_rule.tcp'],
      [{ ...ruled({}), interfaces: { ingress: ['a', 'a'] } }, 'interfaces.ingress'],
      [{ ...ruled({}), interfaces: { egress: [''] } }, 'interfaces.egress'],
    ]);
  });

  test('STN rules and redirects', () => {
    assertRejected('vpp-stn-rules', stnRuleModel, [
      [{ interface: 'a' }, 'ip_address'],
      [{ ip_address: '10.1.1.1' }, 'interface'],
    ]);
    const to = { tx_interface: 'a' };
    assertRejected('vpp-punt-ipredirect', ipRedirectModel, [
      [to, 'l3_protocol'],
      [{ l3_protocol: 'ALL' }, 'tx_interface'],
      [{ ...to, l3_protocol: 'IPV4', next_hop: 'fd00::1' }, 'next_hop'],
      [{ ...to, l3_protocol: 'IPV6', next_hop: '10.1.1.1' }, 'next_hop'],
    ]);
    const socket = {
      l3_protocol: 'ALL',
      l4_protocol: 'UDP',
      port: 9000,
      socket_path: '/s',
    } as const;
    assertRejected('vpp-punt-to-host', puntToHostModel, [
      [{ ...socket, l3_protocol: 'UNDEFINED_L3' }, 'l3_protocol'],
      [{ ...socket, l4_protocol: 'TCP' }, 'l4_protocol'],
      [{ ...socket, port: 0 }, 'port'],
      [{ ...socket, port: 65_535 }, 'port'],
      [{ ...socket, socket_path: '' }, 'socket_path'],
      [{ ...socket, socket_path: 's'.repeat(108) }, 'socket_path'],
    ]);
  });
});

describe('taken for the same', () => {
  test('shares fit a byte together, are never nothing, and keep their order', () => {
    const shares = fc.array(fc.oneof(fc.nat(3), fc.nat(2 ** 32 - 1)), {
      minLength: 2,
      maxLength: 255,
    });
    fc.assert(
      fc.property(shares, (probabilities) => {
        const local_ips = probabilities.map((probability, n) => ({ ...backend(n), probability }));
        const [mapping] = dnat44Model.canonical(mapped({ ...web, local_ips })).st_mappings;
        assert.ok(mapping);
        const sent = [...sharesOf(mapping).values()];
        const sum = sent.reduce((a, b) => a + b, 0);
        assert.ok(sum >= 1 && sum <= 255, `sum ${sum}`);
        const pairs = mapping.local_ips.map(
          ({ probability }, n) => [probability, sent[n] ?? 0] as const,
        );
        for (const [probability, share] of pairs)
          if (probability > 0) assert.ok(share > 0, `${probability} has no share`);
        pairs.sort(([a], [b]) => a - b);
        assert.deepEqual(
          pairs.map(([, share]) => share),
          pairs.map(([, share]) => share).sort((a, b) => a - b),
        );
        // VPP returns what was sent
        const told = mapping.local_ips.map((local, n) => ({ ...local, probability: sent[n] }));
        const [back] = dnat44Model.canonical(mapped({ ...mapping, local_ips: told })).st_mappings;
        assert.deepEqual([...sharesOf(back!).values()], sent);
      }),
    );
  });

  test('a label and its hidden fields, encoded in the tag', () => {
    const label = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 130 });
    fc.assert(
      fc.property(
        fc.uniqueArray(label, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        (labels, seconds) => {
          const valid = labels.filter((each) => {
            const value = dnat44Model.canonical({ label: each });
            try {
              descriptorOf('vpp-nat44-dnat').validate?.(dnat44Model.key(value), value);
              return true;
            } catch {
              return false;
            }
          });
          const read = tagReader(valid);
          const local_ips = [backend(2), backend(3)];
          for (const each of valid) {
            const value = mapped({ ...web, session_affinity: seconds, local_ips });
            const [mapping] = dnat44Model.canonical(value).st_mappings;
            const tag = mappingTag(each, mapping!);
            assert.ok(Buffer.byteLength(tag) <= 63, tag);
            assert.deepEqual(read(tag), {
              label: each,
              hidden: seconds === 0 ? '' : String(seconds),
            });
          }
        },
      ),
    );
  });

  test('a rule that went to VPP and came back', () => {
    const range = fc
      .tuple(fc.nat(65_535), fc.nat(65_535))
      .map(([a, b]) => ({ lower_port: Math.min(a, b), upper_port: Math.max(a, b) }));
    const icmpRange = fc
      .tuple(fc.nat(255), fc.nat(255))
      .map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) }));
    const ports = {
      source_port_range: fc.option(range, { nil: undefined }),
      destination_port_range: fc.option(range, { nil: undefined }),
    };
    const kind = fc.oneof(
      fc.record({ ip: fc.record({ protocol: fc.nat(255) }) }),
      fc.record({
        tcp: fc.record({ ...ports, tcp_flags_mask: fc.nat(255), tcp_flags_value: fc.nat(255) }),
      }),
      fc.record({ udp: fc.record(ports) }),
      fc.record({
        icmp: fc.record({
          icmp_type_range: fc.option(icmpRange, { nil: undefined }),
          icmp_code_range: fc.option(icmpRange, { nil: undefined }),
        }),
      }),
    );
    const rule = fc
      .record({
        action: fc.constantFrom('DENY' as const, 'PERMIT' as const, 'REFLECT' as const),
        source: fc.option(cidrText, { nil: '' }),
        destination: fc.option(cidrText, { nil: '' }),
        kind,
      })
      .filter(({ source, destination }) => {
        return (
          source === '' || destination === '' || source.includes(':') === destination.includes(':')
        );
      })
      .map(({ action, source, destination, kind: one }): DeepInput<AclRule> => {
        const isV6 = source.includes(':') || destination.includes(':');
        const ip = { source_network: source, destination_network: destination };
        return {
          action,
          ip_rule: {
            ...one,
            ...('icmp' in one && { icmp: { ...one.icmp, icmpv6: isV6 } }),
            ip: 'ip' in one ? { ...ip, ...one.ip } : ip,
          },
        };
      });
    const { validate, equivalent } = descriptorOf('vpp-acl');
    fc.assert(
      fc.property(rule, (input) => {
        const value = aclModel.canonical(ruled(input));
        validate?.('', value);
        const sent = toRule(value.rules[0]!);
        const back = aclModel.canonical(ruled(fromRule(sent)));
        assert.ok(sameRule(toRule(back.rules[0]!), sent));
        assert.ok(equivalent?.('', value, back));
        validate?.('', back);
      }),
    );
  });

  test('a service in another order, and with an affinity that one backend does not need', () => {
    const { equivalent } = descriptorOf('vpp-nat44-dnat');
    const value = (...st_mappings: DeepInput<DNat44StaticMapping>[]) =>
      dnat44Model.canonical({ label: 's', st_mappings });
    const one = { ...web, local_ips: [backend(2)] };
    const two = { ...web, external_port: 81, local_ips: [backend(2), backend(3)] };
    assert.ok(equivalent?.('', value(one, two), value({ ...one, session_affinity: 60 }, two)));
    assert.ok(!equivalent?.('', value(one, two), value(one, { ...two, session_affinity: 60 })));
    assert.ok(!equivalent?.('', value(one, two), value(one)));
    assert.ok(!equivalent?.('', value(one), value({ ...one, protocol: 'UDP' })));
  });
});
