/** Policies that do not fit into the tables of VPP. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AddressSet, addressNumber } from '#plugins/policy/address-set.ts';
import { PortSet } from '#plugins/policy/port-set.ts';
import { decide } from './acl-evaluator.ts';
import {
  interfaceOf,
  isolated,
  isolatedBy,
  localAddresses,
  node,
  open,
  podAt,
} from './rendered-pods.ts';
import { inputRules, mapOf, packet, passes, rendered } from './rendered-tables.ts';

describe('limits of tables', () => {
  const [a] = localAddresses as [string];
  const scattered = (count: number) =>
    AddressSet.of(Array.from({ length: count }, (_, at) => `10.9.${at >> 7}.${(at & 127) * 2}`));

  it('deny what the largest policies permit, and name them', async () => {
    const ingress = isolatedBy(
      ['ns/large', 'ns/small'],
      { policy: 'ns/large', rule: 0, peers: scattered(40), ports: PortSet.any },
      { policy: 'ns/small', rule: 0, peers: AddressSet.of(['10.1.2.2']), ports: PortSet.any },
    );
    const all = mapOf(podAt(a, ingress));
    const { renderer, recorded } = await rendered(all, 30);
    assert.deepEqual(
      [...renderer.limits()],
      [
        [
          'ns/large',
          [`denied what it permits: the table of pod ns/pod-${a} would have more than 30 rules`],
        ],
      ],
    );
    assert.equal(passes(recorded, interfaceOf(a), packet('10.9.0.0', a, 80)), false);
    assert.equal(passes(recorded, interfaceOf(a), packet('10.1.2.2', a, 80)), true);
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, open)) });
    assert.deepEqual([...renderer.limits()], []);
  });

  it('keep policies without rules in the table, however large they are for other destinations', async () => {
    const [, b] = localAddresses as [string, string];
    const ingress = isolatedBy(
      ['ns/large', 'ns/small'],
      { policy: 'ns/large', rule: 0, peers: scattered(40), ports: PortSet.any },
      { policy: 'ns/small', rule: 0, peers: AddressSet.of([b]), ports: PortSet.any },
    );
    const egress = isolatedBy(
      ['ns/larger', 'ns/other'],
      {
        policy: 'ns/larger',
        rule: 0,
        peers: AddressSet.union([scattered(60), AddressSet.of([a])]),
        ports: PortSet.any,
      },
      { policy: 'ns/other', rule: 0, peers: AddressSet.of(['10.1.2.2']), ports: PortSet.any },
    );
    const { renderer, recorded } = await rendered(
      mapOf(podAt(a, ingress), podAt(b, open, egress)),
      30,
    );
    assert.equal(passes(recorded, interfaceOf(a), packet(b, a, 80)), true);
    const ofPod = `denied what it permits: the table of pod ns/pod-${a} would have more than 30 rules`;
    const reported = [...renderer.limits()].filter(([, reasons]) => reasons.includes(ofPod));
    assert.deepEqual(
      reported.map(([policy]) => policy),
      ['ns/large'],
    );
  });

  it('keep policies of backends for other ports than that of a service', async () => {
    const ports = (port: number) => PortSet.of([{ protocol: 'TCP', first: port, last: port }]);
    const ingress = isolatedBy(
      ['ns/larger', 'ns/large'],
      { policy: 'ns/larger', rule: 0, peers: scattered(60), ports: ports(81) },
      { policy: 'ns/large', rule: 0, peers: scattered(40), ports: ports(80) },
    );
    const backends = [{ address: addressNumber(a)!, port: 80 }];
    const address = {
      address: node.addresses[0]!,
      port: 30_000,
      protocol: 'TCP',
      backends,
    } as const;
    const { renderer } = await rendered(
      mapOf(podAt(a, ingress)),
      30,
      new Map([['ns/web', [address]]]),
    );
    const ofNode = 'denied what it permits: the table of the node would have more than 30 rules';
    assert.deepEqual(renderer.limits().get('ns/large')?.includes(ofNode), true);
    assert.deepEqual(renderer.limits().get('ns/larger')?.includes(ofNode), false);
  });

  it('apply to the table of the node', async () => {
    const { renderer, recorded } = await rendered(
      mapOf(podAt(a, open, isolated({ peers: scattered(40) }))),
      30,
    );
    assert.deepEqual(
      [...renderer.limits()],
      [['ns/p', ['denied what it permits: the table of the node would have more than 30 rules']]],
    );
    assert.equal(passes(recorded, node.interfaces[0]!, packet(a, '10.9.0.0', 80)), false);
    assert.equal(passes(recorded, node.interfaces[0]!, packet('10.1.1.3', '10.9.0.0', 80)), true);
  });

  it('deny more ports of services than policies forbid, and permit clients outside less', async () => {
    const [, b] = localAddresses as [string, string];
    const backends = [{ address: addressNumber(b)!, port: 80 }];
    const services = new Map(
      Array.from({ length: 20 }, (_, at) => {
        const address = { address: node.addresses[0]!, port: 30_000 + 2 * at, backends };
        return [`ns/${at}`, [{ ...address, protocol: 'TCP' as const }]] as const;
      }),
    );
    const all = mapOf(podAt(a), podAt(b, isolated({ peers: scattered(2), ports: PortSet.any })));
    const { renderer, recorded } = await rendered(all, 30, services);
    const rules = inputRules(recorded, interfaceOf(a));
    assert.equal(rules.filter(({ action }) => action === 'DENY').length, 20);
    assert.deepEqual(
      [...renderer.limits()],
      [['ns/p', ['denied what it permits: the table of the node would have more than 30 rules']]],
    );
    const client = packet('10.9.0.0', node.addresses[0]!, 30_000);
    assert.equal(decide(inputRules(recorded, 'uplink'), client), 'DENY');
    const narrow = await rendered(all, 15, services);
    const fewer = inputRules(narrow.recorded, interfaceOf(a));
    assert.equal(fewer.filter(({ action }) => action === 'DENY').length, 1);
    assert.equal(decide(fewer, packet(a, node.addresses[0]!, 30_038)), 'DENY');
    assert.notEqual(decide(fewer, packet(a, node.addresses[0]!, 30_040)), 'DENY');
    assert.ok(
      narrow.renderer
        .limits()
        .get('ns/p')
        ?.includes(
          `denied more ports of services than it forbids: the table of pod ns/pod-${a} would have more than 15 rules`,
        ),
    );
  });

  it('name the policies that deny ports of services now', async () => {
    const [, b, c] = localAddresses as [string, string, string];
    const of = (policy: string) => isolatedBy([policy]);
    const servicesWith = (backend: string) =>
      new Map(
        Array.from({ length: 20 }, (_, at) => {
          const backends = [{ address: addressNumber(backend)!, port: 80 }];
          const address = { address: node.addresses[0]!, port: 30_000 + 2 * at, backends };
          return [`ns/${at}`, [{ ...address, protocol: 'TCP' as const }]] as const;
        }),
      );
    const all = mapOf(podAt(a), podAt(b, of('ns/b')), podAt(c, of('ns/c')));
    const { renderer, recorded } = await rendered(all, 15, servicesWith(b));
    const reported = () => [...renderer.limits()].map(([policy]) => policy);
    assert.deepEqual(reported(), ['ns/b']);
    await renderer.update(recorded.begin(), { pods: new Map(), services: servicesWith(c) });
    const fresh = await rendered(all, 15, servicesWith(c));
    assert.deepEqual(renderer.limits(), fresh.renderer.limits());
  });

  it('are reported in the same order, however they have come', async () => {
    const [, b] = localAddresses as [string, string];
    const large = isolated({ peers: scattered(40) });
    const all = mapOf(podAt(a, large), podAt(b, large));
    const { renderer, recorded } = await rendered(all, 30);
    const before = renderer.limits();
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, open)) });
    assert.equal(renderer.limits().get('ns/p')?.length, 1);
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, large)) });
    assert.deepEqual(renderer.limits(), before);
  });

  it('deny ports of SCTP, and permit the whole protocol', async () => {
    const sctp = (first: number, last: number) =>
      isolated({ ports: PortSet.of([{ protocol: 'SCTP', first, last }]) });
    const { renderer, recorded } = await rendered(mapOf(podAt(a, sctp(80, 90))));
    assert.deepEqual(
      [...renderer.limits()],
      [['ns/p', ['denied ports of SCTP: VPP compares no ports of this protocol']]],
    );
    assert.equal(passes(recorded, interfaceOf(a), packet('10.1.2.2', a, 85, 'SCTP')), false);
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, sctp(1, 65_535))) });
    assert.deepEqual([...renderer.limits()], []);
    assert.equal(passes(recorded, interfaceOf(a), packet('10.1.2.2', a, 85, 'SCTP')), true);
  });
});
