import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Acl, aclModel } from '#models/vpp/acl.ts';
import {
  type AddressNumber,
  AddressSet,
  addressNumber,
  formatAddress,
} from '#plugins/policy/address-set.ts';
import {
  type PodPolicy,
  type PolicyRule,
  permittedPorts,
  type RuleList,
} from '#plugins/policy/pod-policy.ts';
import { PortSet } from '#plugins/policy/port-set.ts';
import type { CheckedAddress, RenderedPod } from '#plugins/policy/rendered-state.ts';
import { ACK, boundRules, decide, reply, SYN, type TestPacket } from './acl-evaluator.ts';
import {
  families,
  interfaceOf,
  isolated,
  localAddresses,
  node,
  otherAddresses,
  pod,
  podAt,
  pods,
  services,
  someService,
  testPorts,
} from './rendered-pods.ts';
import { inputRules, mapOf, type Pods, packet, passes, rendered } from './rendered-tables.ts';

function isPermitted(set: PortSet, { protocol, port }: TestPacket): boolean {
  return protocol === 'ICMP' ? set.isComplement : set.has(protocol, port);
}

/** A NetworkPolicy lets each pod reach its node. */
function withNode({ policies, rules }: RuleList): RuleList {
  const first = rules.findIndex(({ tier }) => tier === 'NetworkPolicy');
  if (first < 0) return { policies, rules };
  const peers = AddressSet.of([...node.addresses, ...node.natLoopbacks]);
  const permit: PolicyRule = {
    tier: 'NetworkPolicy',
    action: 'Accept',
    policy: '',
    peers,
    ports: PortSet.any,
  };
  return { policies, rules: rules.toSpliced(first, 0, permit) };
}

/** Whether the policies permit a packet to or from pods of this node. */
function isWanted(all: Pods, one: TestPacket): boolean {
  const byAddress = (text: string) =>
    [...all.values()].find(({ policy }) => policy.addresses.includes(addressNumber(text)!));
  const isNode = (text: string) => [...node.addresses, ...node.natLoopbacks].includes(text);
  if (isNode(one.from)) return true;
  const sender = byAddress(one.from)?.policy;
  if (isNode(one.to))
    return (
      sender === undefined ||
      isPermitted(permittedPorts(withNode(sender.egress), addressNumber(one.to)!), one)
    );
  const receiver = byAddress(one.to)?.policy;
  return (
    (sender === undefined ||
      isPermitted(permittedPorts(sender.egress, addressNumber(one.to)!), one)) &&
    (receiver === undefined ||
      isPermitted(permittedPorts(receiver.ingress, addressNumber(one.from)!), one))
  );
}

function* packets(all: Pods): Generator<{ readonly at: string; readonly packet: TestPacket }> {
  const at = new Map(
    [...all.values()].flatMap(({ interface: name, policy }) =>
      policy.addresses.map((address) => [formatAddress(address), name] as const),
    ),
  );
  const local = [...at.keys()];
  const elsewhere = [...otherAddresses, node.addresses[0]!, ...node.natLoopbacks];
  for (const from of [...local, ...elsewhere]) {
    for (const to of [...local, ...elsewhere]) {
      if (from === to || (!local.includes(from) && !local.includes(to))) continue;
      if (isV6(from) !== isV6(to) || (at.has(from) && at.get(from) === at.get(to))) continue;
      const name = at.get(to) ?? node.interfaces[0]!;
      for (const protocol of ['TCP', 'UDP'] as const)
        for (const port of testPorts) yield { at: name, packet: packet(from, to, port, protocol) };
      yield { at: name, packet: packet(from, to, 0, 'SCTP') };
      yield { at: name, packet: packet(from, to, 0, 'ICMP') };
    }
  }
}

/** Whether the policies permit a client the backend of a service; a pod always reaches itself. */
function isBackendPermitted(
  all: Pods,
  client: AddressNumber,
  { address, port, protocol }: { address: AddressNumber; port: number; protocol: 'TCP' | 'UDP' },
): boolean {
  const [from, to] = [client, address].map((one) =>
    [...all.values()].find(({ policy }) => policy.addresses.includes(one)),
  );
  if (from !== undefined && from === to) return true;
  const isSent =
    from === undefined || permittedPorts(withNode(from.policy.egress), address).has(protocol, port);
  const isTaken = to === undefined || permittedPorts(to.policy.ingress, client).has(protocol, port);
  return isSent && isTaken;
}

function isService(
  one: RenderedPod | readonly CheckedAddress[] | undefined,
): one is readonly CheckedAddress[] {
  return Array.isArray(one);
}

/** The evaluator compares no port of SCTP; 0 stands for all. */
const asPolicy = (one: TestPacket): TestPacket =>
  one.protocol === 'SCTP' ? { ...one, port: 1 } : one;

const isV6 = (text: string): boolean => text.includes(':');

/** The addresses of a pod, each with those that are none of the pod, of one family. */
function pairsOf(all: Pods, { addresses }: PodPolicy): (readonly [own: string, other: string])[] {
  const own = addresses.map(formatAddress);
  const local = [...all.values()].flatMap(({ policy }) => policy.addresses.map(formatAddress));
  const others = [...local, ...otherAddresses].filter((text) => !own.includes(text));
  return own.flatMap((from) =>
    others.filter((other) => isV6(other) === isV6(from)).map((other) => [from, other] as const),
  );
}

function neighborsReversed(rules: readonly PolicyRule[]): PolicyRule[] {
  const runs: PolicyRule[][] = [];
  for (const rule of rules) {
    const run = runs.at(-1);
    const last = run?.[0];
    const isSame = last?.tier === rule.tier && last.action === rule.action;
    if (isSame && rule.action !== 'Pass') run?.unshift(rule);
    else runs.push([rule]);
  }
  return runs.flat();
}

describe('rendered tables', () => {
  it('decide about every packet as the policies do', async () => {
    await fc.assert(
      fc.asyncProperty(pods, async (all) => {
        const { recorded } = await rendered(all);
        for (const { at, packet: one } of packets(all))
          assert.equal(
            passes(recorded, at, one),
            isWanted(all, asPolicy(one)),
            JSON.stringify({ at, one }),
          );
      }),
      { numRuns: 30 },
    );
  });

  it('let packets of IPv6 pass that VPP cannot read only where every port is permitted', async () => {
    await fc.assert(
      fc.asyncProperty(pods, async (all) => {
        const { recorded } = await rendered(all);
        for (const { at, packet: one } of packets(all)) {
          // one of each pair
          if (!isV6(one.from) || one.protocol !== 'ICMP') continue;
          const isOpen = () =>
            testPorts.every((port) =>
              (['TCP', 'UDP'] as const).every((protocol) =>
                isWanted(all, { ...one, port, protocol }),
              ),
            );
          for (const protocol of ['TCP', 'UDP', 'ICMP'] as const) {
            const unreadable = { ...packet(one.from, one.to, 0, protocol), isUnreadable: true };
            if (passes(recorded, at, unreadable)) assert.ok(isOpen(), JSON.stringify({ at, one }));
            if (node.interfaces.includes(at)) continue;
            const sent = { ...packet(one.to, one.from, 0, protocol), isUnreadable: true };
            assert.equal(decide(inputRules(recorded, at), sent), 'PERMIT');
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('let replies return, and make no session for what may be a reply', async () => {
    await fc.assert(
      fc.asyncProperty(pods, async (all) => {
        const { recorded } = await rendered(all);
        const values = [...recorded.values.values()];
        for (const { interface: name, policy } of all.values()) {
          const input = boundRules(values, name, 'ingress');
          const output = boundRules(values, name, 'egress');
          // the rules at the input serve the table
          if (output === boundRules([], name, 'egress')) continue;
          for (const [own, other] of pairsOf(all, policy)) {
            for (const protocol of ['TCP', 'UDP', 'SCTP', 'ICMP'] as const) {
              const opening = packet(own, other, 80, protocol);
              const action = decide(input, opening);
              // a session of VPP lets the replies pass
              if (action !== 'REFLECT') assert.notEqual(decide(output, reply(opening)), 'DENY');
              if (protocol === 'ICMP') continue;
              const arriving = packet(other, own, 80, protocol);
              if (decide(output, arriving) === 'DENY') continue;
              assert.equal(decide(input, reply(arriving)), 'PERMIT', JSON.stringify(arriving));
            }
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('deny services if they do not permit the client, or the policies deny it a backend for which VPP replaces it', async () => {
    await fc.assert(
      fc.asyncProperty(pods, services, async (all, some) => {
        const { recorded } = await rendered(all, undefined, some);
        const inputs = [
          ...[...all.values()].map(({ interface: name, policy }) => ({
            name,
            clients: policy.addresses,
          })),
          ...[...node.nics, ...node.interfaces, node.hostLink].map((name) => ({
            name,
            clients: otherAddresses.map((text) => addressNumber(text)!),
          })),
        ];
        for (const one of [...some.values()].flat()) {
          for (const { name, clients } of inputs) {
            const rules = inputRules(recorded, name);
            for (const client of clients) {
              if (isV6(formatAddress(client)) !== isV6(one.address)) continue;
              const isDeniedByService = one.clients !== undefined && !one.clients.has(client);
              const isDeniedByPolicies = one.backends.some(
                ({ address, port }) => !isBackendPermitted(all, client, { ...one, address, port }),
              );
              const isDenied = isDeniedByService || (name !== node.hostLink && isDeniedByPolicies);
              const { address, port, protocol } = one;
              const sent = packet(formatAddress(client), address, port, protocol);
              assert.equal(
                decide(rules, sent) === 'DENY',
                isDenied,
                JSON.stringify({ name, sent }),
              );
              assert.notEqual(decide(rules, { ...sent, port: 443 }), 'DENY');
              assert.notEqual(decide(rules, { ...sent, sourcePort: 0, port: 0 }), 'DENY');
            }
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it('are the same after changes as after a resync', async () => {
    const change = fc
      .tuple(fc.constantFrom(...localAddresses), families)
      .chain(([address, own]) =>
        fc.tuple(fc.constant(address), fc.option(pod(address, own), { nil: undefined })),
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(change, someService), { maxLength: 20 }),
        fc.constantFrom(undefined, 12),
        async (changes, maxRules) => {
          const { renderer, recorded } = await rendered(new Map(), maxRules);
          const all = new Map<string, RenderedPod>();
          const some = new Map<string, readonly CheckedAddress[]>();
          for (const [name, now] of changes) {
            if (isService(now)) {
              some.set(name, now);
              await renderer.update(recorded.begin(), {
                pods: new Map(),
                services: new Map([[name, now]]),
              });
              continue;
            }
            const id = `c/${name}`;
            if (now === undefined) all.delete(id);
            else all.set(id, now);
            await renderer.update(recorded.begin(), { pods: new Map([[id, now]]) });
          }
          const fresh = await rendered(all, maxRules, some);
          assert.deepEqual(recorded.sorted(), fresh.recorded.sorted());
          assert.deepEqual(renderer.limits(), fresh.renderer.limits());
        },
      ),
      { numRuns: 50 },
    );
  });

  it('do not depend on the order of pods, and of neighbors with one action', async () => {
    await fc.assert(
      fc.asyncProperty(pods, async (all) => {
        const { recorded } = await rendered(all);
        const reversed = [...all].reverse().map(([id, one]): [string, RenderedPod] => {
          const turned = (of: 'ingress' | 'egress') => ({
            ...one.policy[of],
            rules: neighborsReversed(one.policy[of].rules),
          });
          const policy = { ...one.policy, ingress: turned('ingress'), egress: turned('egress') };
          return [id, { ...one, policy }];
        });
        assert.deepEqual((await rendered(new Map(reversed))).recorded.sorted(), recorded.sorted());
      }),
      { numRuns: 30 },
    );
  });
});

describe('ACL renderer', () => {
  const [a, b, c] = localAddresses as [string, string, string];

  it('makes values in canonical form', async () => {
    await fc.assert(
      fc.asyncProperty(pods, async (all) => {
        const { recorded } = await rendered(all);
        for (const [, acl] of recorded.values) {
          const canonical = aclModel.canonical(acl);
          assert.deepEqual(acl, canonical);
          assert.equal(JSON.stringify(acl), JSON.stringify(canonical));
        }
      }),
      { numRuns: 20 },
    );
  });

  it('binds nothing where no policy concerns an interface', async () => {
    const { renderer, recorded } = await rendered(mapOf(podAt(a)));
    assert.deepEqual([...recorded.values], []);
    assert.deepEqual(renderer.takeNewTables(), []);
  });

  it('tells which interfaces have got a table, and keeps what was open there', async () => {
    const { renderer, recorded } = await rendered(mapOf(podAt(a), podAt(b)));
    const id = `id-${interfaceOf(a)}`;
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, isolated(), isolated())) });
    assert.deepEqual(renderer.takeNewTables().toSorted(), [id, `id-${interfaceOf(b)}`, 'node']);
    assert.deepEqual(renderer.takeNewTables(), []);
    const opened = packet(a, c, 80);
    assert.equal(passes(recorded, interfaceOf(a), reply(opened)), false);
    const one = {
      source: { address: c, port: 80 },
      destination: { address: a, port: opened.sourcePort },
    };
    renderer.keep(recorded.begin(), id, [one]);
    assert.equal(passes(recorded, interfaceOf(a), reply(opened)), true);
    assert.equal(passes(recorded, interfaceOf(a), { ...reply(opened), sourcePort: 81 }), false);
    // until it has no table any more
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a)) });
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, isolated())) });
    assert.deepEqual(renderer.takeNewTables(), [id]);
    assert.equal(passes(recorded, interfaceOf(a), reply(opened)), false);
  });

  it('shares equal lists of rules', async () => {
    const policy = isolated({ ports: PortSet.of([{ protocol: 'TCP', first: 80, last: 80 }]) });
    const { recorded } = await rendered(mapOf(podAt(a, policy), podAt(b, policy), podAt(c)));
    const table = (text: string) =>
      boundRules(recorded.values.values(), interfaceOf(text), 'egress');
    assert.equal(table(a), table(b));
    assert.deepEqual(table(c), boundRules([], 'nothing', 'egress'));
  });

  it('touches only the tables that a change concerns', async () => {
    const { renderer, recorded } = await rendered(mapOf(podAt(a), podAt(b), podAt(c)));
    const aclOf = (text: string, side: 'ingress' | 'egress') =>
      [...recorded.values].find(([, acl]) =>
        (acl as Acl).interfaces?.[side].includes(interfaceOf(text)),
      )![0];
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, isolated())) });
    assert.deepEqual([...recorded.changes.keys()], [aclOf(a, 'egress'), aclOf(a, 'ingress')]);

    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, isolated())) });
    assert.deepEqual([...recorded.changes.keys()], []);

    const egress = isolated({ peers: AddressSet.of([b]) });
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, isolated(), egress)) });
    assert.deepEqual(
      new Set([...recorded.changes.keys()]),
      new Set([
        aclOf(c, 'egress'),
        aclOf(c, 'ingress'),
        'config/vpp/acls/v2/acl/contiv-policy-NODE-GLOBAL',
        'config/vpp/acls/v2/acl/contiv-policy-NODE-REFLECTION',
      ]),
    );
  });

  it('puts all values of a pod that is being attached, and the table before what reflects', async () => {
    const { renderer, recorded } = await rendered(mapOf(podAt(a, isolated())));
    const id = `id-${interfaceOf(a)}`;
    renderer.takeNewTables();
    await renderer.update(recorded.begin(), { pods: mapOf(podAt(a, isolated())), added: id });
    assert.deepEqual(renderer.takeNewTables(), []);
    assert.deepEqual(
      [...recorded.changes.keys()].map((key) => /contiv-policy-(out|reflection)/.exec(key)?.[1]),
      ['out', 'reflection'],
    );
    assert.deepEqual(
      [...recorded.changes.keys()],
      renderer.groupsOf(id).flatMap((name) => [...recorded.group(name).keys()]),
    );
  });

  it('deletes the ACLs of a pod with the pod', async () => {
    const { renderer, recorded } = await rendered(
      mapOf(podAt(a, isolated(), isolated()), podAt(b)),
    );
    await renderer.update(recorded.begin(), {
      pods: new Map([[`id-${interfaceOf(a)}`, undefined]]),
    });
    const names = [...recorded.values.values()].map((acl) => (acl as Acl).interfaces);
    assert.equal(JSON.stringify(names).includes(interfaceOf(a)), false);
  });

  it('lets errors of ICMP, neighbor discovery and fragments reach isolated pods', async () => {
    const { recorded } = await rendered(mapOf(podAt(a, isolated())));
    const rules = boundRules(recorded.values.values(), interfaceOf(a), 'egress');
    const types = rules.flatMap(({ ip_rule }) => ip_rule?.icmp?.icmp_type_range ?? []);
    assert.deepEqual(types, [
      { first: 3, last: 3 },
      { first: 11, last: 12 },
      { first: 1, last: 4 },
      { first: 133, last: 137 },
    ]);
    for (const protocol of ['TCP', 'UDP'] as const)
      assert.equal(
        decide(rules, { from: b, to: a, protocol, sourcePort: 0, port: 0, flags: ACK }),
        'PERMIT',
      );
    assert.equal(
      decide(rules, { from: b, to: a, protocol: 'TCP', sourcePort: 0, port: 80, flags: SYN }),
      'DENY',
    );
  });
});
