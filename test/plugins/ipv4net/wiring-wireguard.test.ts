/** A node that encrypts what it sends to others: interfaces, peers, routes, and what closes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { vppNodeModel, type Wireguard } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { SessionChange } from '#plugins/ipv4net/api.ts';
import { idRecordKey } from '#plugins/nodesync/id-allocator.ts';
import { TestSessions, testKeys } from '../test-keys.ts';
import { type KubeValue, nodeValue, sorted, type TestNode } from '../test-node.ts';
import { fakeVppWithNics, nonDefaultFields } from './vpp-with.ts';
import { keys, startedNode, VPP_IF } from './wired-node.ts';

const YAML = `
nodeToNodeTransport: wireguard
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}
`;
const IN_CLEAR_TEXT = `wireguardClearText: true\n${YAML}`;
const PEER = 'config/vpp/wg/v1/peer/';

async function keysOf(name: string, replaced?: 0 | 1): Promise<Wireguard> {
  const own = await testKeys(name).ownKeys();
  return {
    port: 51_820,
    keys: own.keys.map(({ publicKey }, slot) => ({
      public_key: publicKey,
      is_replaced: slot === replaced,
    })),
  };
}

function record(id: number, name: string, wireguard?: Wireguard): KubeValue {
  const value = vppNodeModel.canonical({
    id,
    name,
    ip_addresses: [`192.168.16.${id}/24`],
    ...(wireguard && { wireguard }),
  });
  return { resource: 'vppnode', key: resources.vppnode.key(String(id), ''), value };
}

const host = (id: number, name: string): KubeValue => nodeValue(name, `172.16.0.${id + 4}`);
const nodeB = async (wireguard?: Wireguard) => [record(2, 'node-b', wireguard), host(2, 'node-b')];

/** VPP has sessions by these keys. */
function sessionsBy(...all: readonly Wireguard[]): TestSessions {
  const sessions = new TestSessions();
  for (const { keys: ofNode } of all)
    for (const { public_key } of ofNode) sessions.established.add(public_key);
  return sessions;
}

async function encrypting(options = {}): Promise<TestNode> {
  const ofB = await keysOf('node-b');
  return startedNode({ yaml: YAML, sessions: sessionsBy(ofB), ...options }, await nodeB(ofB));
}

const routesTo = (node: TestNode, part: string) =>
  keys(node, part)
    .filter((key) => key.includes('/route/') && !key.includes('/dst/192.168.30.2/32/'))
    .map((key) => key.replace('config/vpp/v2/route/', ''));

describe('wiring of a node with WireGuard', () => {
  it('has one interface for each of its keys, and routes into both sessions', async () => {
    const node = await encrypting();
    const own = await node.ownKeys.ownKeys();
    for (const slot of [0, 1] as const)
      assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}wireguard${slot}`)), {
        name: `wireguard${slot}`,
        type: 'WIREGUARD_TUNNEL',
        enabled: true,
        vrf: 1,
        unnumbered: { interface_with_ip: 'podGwLoop' },
        mtu: 1400,
        wireguard: {
          port: 51_820 + slot,
          src_addr: '192.168.16.1',
          public_key: own.keys[slot].publicKey,
        },
      });
    assert.deepEqual(keys(node, 'vxlan'), []);
    assert.deepEqual(routesTo(node, 'gw/192.168.30.2'), [
      'if/wireguard0/vrf/1/dst/10.1.2.0/24/gw/192.168.30.2',
      'if/wireguard0/vrf/1/dst/172.16.0.6/32/gw/192.168.30.2',
      'if/wireguard0/vrf/1/dst/172.30.2.0/24/gw/192.168.30.2',
      'if/wireguard1/vrf/1/dst/10.1.2.0/24/gw/192.168.30.2',
      'if/wireguard1/vrf/1/dst/172.16.0.6/32/gw/192.168.30.2',
      'if/wireguard1/vrf/1/dst/172.30.2.0/24/gw/192.168.30.2',
    ]);
    assert.deepEqual(node.net.overlayInterfaces(), ['wireguard0', 'wireguard1']);
  });

  it('accepts from a node what the address plan gives it, in both sessions', async () => {
    const node = await encrypting();
    const { keys: ofB } = await keysOf('node-b');
    for (const slot of [0, 1] as const)
      assert.deepEqual(node.at(`${PEER}wireguard${slot}/endpoint/192.168.16.2/${51_820 + slot}`), {
        wg_if_name: `wireguard${slot}`,
        public_key: ofB[slot]!.public_key,
        endpoint: '192.168.16.2',
        port: 51_820 + slot,
        persistent_keepalive: 25,
        next_hops: ['192.168.30.2'],
        allowed_ips: [
          '10.1.2.0/24',
          '172.16.0.6/32',
          '172.30.2.0/24',
          '192.168.16.2/32',
          '192.168.30.2/32',
        ],
      });
  });

  it('accepts no address of another node, of the overlay or of services that a record claims', async () => {
    const claims = [
      '192.168.16.3/24', // VPP of node-c
      '172.16.0.7/24', // host of node-c
      '192.168.30.3/24', // next hop of node-c
      '192.168.30.1/24', // this node in the overlay
      '172.30.3.2/32', // link of node-c to its host
      '10.96.0.10/32', // a service
      '192.168.16.77/24', // of no other node
    ];
    const ofB = await keysOf('node-b');
    const node = await encrypting();
    const value = vppNodeModel.canonical({
      id: 2,
      name: 'node-b',
      ip_addresses: ['192.168.16.2/24', ...claims],
      wireguard: ofB,
    });
    const key = resources.vppnode.key('2', '');
    const allowed = () =>
      keys(node, `${PEER}wireguard0/endpoint/192.168.16.2/`).flatMap(
        (one) => node.at(one)['allowed_ips'],
      );
    const plan = ['10.1.2.0/24', '172.16.0.6/32', '172.30.2.0/24'];
    const own = ['192.168.16.2/32', '192.168.16.77/32', '192.168.30.2/32'];
    await node.put({ resource: 'vppnode', key, value });
    assert.deepEqual(
      allowed(),
      [...plan, '172.16.0.7/32', '192.168.16.3/32', ...own].sort(),
      'node-c is not known yet',
    );
    // the node that owns them is known after the claim
    await node.put(host(3, 'node-c'));
    await node.put(record(3, 'node-c', await keysOf('node-c')));
    assert.deepEqual(allowed(), [...plan, ...own]);
    const problems = node.net.nodeProblems().of('node-b').join();
    for (const claim of claims.slice(0, -1))
      assert.ok(problems.includes(claim.split('/', 1)[0]!), `${claim} in ${problems}`);
    const incremental = sorted(node.config);
    await node.resync();
    assert.deepEqual(sorted(node.config), incremental);
  });

  it('publishes its public keys and nothing else of them', async () => {
    const node = await encrypting();
    const text = (await node.clusterStore.get(idRecordKey(1))) ?? '';
    const { wireguard } = JSON.parse(text);
    const own = await node.ownKeys.ownKeys();
    assert.deepEqual(wireguard, {
      port: 51_820,
      keys: own.keys.map(({ publicKey }) => ({ public_key: publicKey })),
    });
    const everything = JSON.stringify([
      text,
      ...node.config.values(),
      node.net.describeInternalData?.(),
    ]);
    for (const { publicKey } of own.keys) {
      const secret = node.ownKeys.privateKeyOf(publicKey)!.reveal();
      assert.equal(everything.includes(secret), false);
    }
    const plain = node.restart({ yaml: 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}' });
    await plain.resync(node.state());
    assert.equal(
      JSON.parse((await node.clusterStore.get(idRecordKey(1))) ?? '').wireguard,
      undefined,
    );
  });

  it('uses the session whose keys neither end replaces', async () => {
    const node = await encrypting();
    const used = () => routesTo(node, 'gw/192.168.30.2').map((key) => key.slice(0, 13));
    const peers = () => keys(node, PEER).length;
    await node.put(record(2, 'node-b', await keysOf('node-b', 0)));
    assert.deepEqual([...new Set(used())], ['if/wireguard1']);
    assert.equal(peers(), 2);
    await node.put(record(2, 'node-b', await keysOf('node-b', 1)));
    assert.deepEqual([...new Set(used())], ['if/wireguard0']);
    await node.ownKeys.setReplacement({ slot: 0, isNew: false });
    await node.resync();
    assert.deepEqual(
      [...new Set(used())],
      ['if/wireguard0', 'if/wireguard1'],
      'both are being replaced',
    );
    await node.put(record(2, 'node-b', await keysOf('node-b')));
    assert.deepEqual([...new Set(used())], ['if/wireguard1']);
  });

  it('sends only to nodes with a session, and changes to another one when it ends', async () => {
    const node = await encrypting({ sessions: new TestSessions() });
    const [first = '', second = ''] = (await keysOf('node-b')).keys.map((one) => one.public_key);
    const used = () => routesTo(node, 'gw/192.168.30.2').map((key) => key.slice(0, 13));
    const change = (established: readonly string[], ended: readonly string[]) => {
      for (const key of established) node.sessions.established.add(key);
      for (const key of ended) node.sessions.established.delete(key);
      return node.run(SessionChange.event({ established, ended }));
    };
    assert.deepEqual(used(), []);
    assert.equal(node.at('config/vpp/v2/route/vrf/1/dst/10.1.2.0/24/gw/0.0.0.0')['type'], 'DROP');
    assert.equal(keys(node, PEER).length, 2);
    await change([second], []);
    assert.deepEqual([...new Set(used())], ['if/wireguard1']);
    await change([first], []);
    assert.deepEqual([...new Set(used())], ['if/wireguard0', 'if/wireguard1']);
    await change([], [first]);
    assert.deepEqual([...new Set(used())], ['if/wireguard1']);
    const incremental = sorted(node.config);
    await node.resync();
    assert.deepEqual(sorted(node.config), incremental);
    await change(['a key of no node'], [second]);
    assert.deepEqual(used(), []);
  });

  it('needs a new session with a node that has left and comes back', async () => {
    const node = await encrypting();
    const ofB = await keysOf('node-b');
    assert.equal(routesTo(node, 'gw/192.168.30.2').length, 6);
    await node.put(record(2, 'node-b'));
    await node.put(record(2, 'node-b', ofB));
    assert.deepEqual(routesTo(node, 'gw/192.168.30.2'), []);
    const established = ofB.keys.map(({ public_key }) => public_key);
    await node.run(SessionChange.event({ established, ended: [] }));
    assert.equal(routesTo(node, 'gw/192.168.30.2').length, 6);
  });

  it('takes no key of a node for those beyond the sessions that another one lists', async () => {
    const node = await encrypting();
    const [ofB, ofC] = [await keysOf('node-b'), await keysOf('node-c')];
    await node.put(host(3, 'node-c'));
    await node.put(record(3, 'node-c', ofC));
    await node.put(record(2, 'node-b', { ...ofB, keys: [...ofB.keys, ...ofC.keys] }));
    assert.equal(keys(node, `${PEER}wireguard0/endpoint/192.168.16.3/`).length, 1);
    assert.deepEqual(node.net.nodeProblems().of('node-c'), []);
  });

  it('isolates a node without a key, unless clear text is permitted', async () => {
    const node = await startedNode({ yaml: YAML }, await nodeB());
    assert.deepEqual(routesTo(node, '172.16.0.6/32/gw/0.0.0.0'), [
      'vrf/0/dst/172.16.0.6/32/gw/0.0.0.0',
      'vrf/1/dst/172.16.0.6/32/gw/0.0.0.0',
    ]);
    for (const network of ['10.1.2.0/24', '172.30.2.0/24'])
      assert.equal(node.at(`config/vpp/v2/route/vrf/1/dst/${network}/gw/0.0.0.0`)['type'], 'DROP');
    assert.deepEqual(keys(node, 'vxlan'), []);
    assert.match(node.net.nodeProblems().of('node-b').join(), /has published no key/);
    const sessions = sessionsBy(await keysOf('node-b'));
    const open = await startedNode({ yaml: IN_CLEAR_TEXT, sessions }, await nodeB());
    assert.equal(routesTo(open, 'if/vxlanBVI/vrf/1/dst/10.1.2.0/24').length, 1);
    assert.deepEqual(open.net.nodeProblems().of('node-b'), []);
    await open.put(record(2, 'node-b', await keysOf('node-b')));
    assert.equal(routesTo(open, 'if/wireguard0/vrf/1/dst/10.1.2.0/24').length, 1);
    assert.deepEqual(keys(open, 'vxlan-default'), []);
  });

  it('isolates all nodes that encrypt while its own keys are not known', async () => {
    const file = {
      read: () => Promise.reject(new Error('input/output error')),
      write: () => Promise.resolve(),
    };
    const node = await encrypting({ yaml: IN_CLEAR_TEXT, ownKeys: testKeys('node-a', { file }) });
    assert.deepEqual(keys(node, 'wireguard'), []);
    assert.equal(node.at('config/vpp/v2/route/vrf/1/dst/10.1.2.0/24/gw/0.0.0.0')['type'], 'DROP');
    assert.match(node.net.encryptionProblem() ?? '', /input\/output error/);
  });

  it('isolates all nodes that encrypt while VPP cannot, and continues when it can', async () => {
    const vpp = fakeVppWithNics('Gig1', 'Gig2');
    vpp.lack = 'crypto engine';
    const node = await encrypting({ yaml: IN_CLEAR_TEXT, vpp });
    assert.deepEqual(keys(node, 'wireguard'), []);
    assert.equal(node.at('config/vpp/v2/route/vrf/1/dst/10.1.2.0/24/gw/0.0.0.0')['type'], 'DROP');
    assert.match(node.net.encryptionProblem() ?? '', /VPP has no crypto engine/);
    vpp.lack = undefined;
    const ofB = await keysOf('node-b');
    await node.resync([nodeValue('node-a', '172.16.0.5'), ...(await nodeB(ofB))]);
    assert.equal(node.net.encryptionProblem(), undefined);
    assert.equal(routesTo(node, 'if/wireguard0/vrf/1/dst/10.1.2.0/24').length, 1);
  });

  it('opens nothing for keys that cannot be used, and is as after a resync', async () => {
    const own = await keysOf('node-a');
    const known = [await keysOf('node-b'), await keysOf('node-c')].flatMap((one) =>
      one.keys.map(({ public_key }) => public_key),
    );
    const key = fc.constantFrom(
      ...own.keys.map((one) => one.public_key),
      ...(await keysOf('node-b')).keys.map((one) => one.public_key),
      ...(await keysOf('node-c')).keys.map((one) => one.public_key),
      '',
      'no key',
      Buffer.alloc(32).toString('base64'),
      Buffer.alloc(31, 1).toString('base64'),
    );
    const wireguard = fc.option(
      fc.record({
        port: fc.constantFrom(0, 1, 51_820, 65_535, 65_536),
        keys: fc.array(fc.record({ public_key: key, is_replaced: fc.boolean() }), { maxLength: 3 }),
      }),
      { nil: undefined },
    );
    const change = fc.tuple(fc.constantFrom(2, 3), wireguard, fc.subarray(known));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), fc.boolean(), async (changes, open) => {
        const node = await startedNode({ yaml: open ? IN_CLEAR_TEXT : YAML }, [
          host(2, 'node-b'),
          host(3, 'node-c'),
        ]);
        for (const [id, one, established] of changes) {
          const ended = known.filter((each) => !established.includes(each));
          node.sessions.established.clear();
          for (const each of established) node.sessions.established.add(each);
          await node.run(SessionChange.event({ established, ended }));
          await node.put(record(id, `node-${'abc'[id - 1]}`, one));
        }
        const used = keys(node, PEER).map((each) => node.at(each)['public_key']);
        assert.equal(new Set(used).size, used.length, 'VPP has each key once');
        for (const one of own.keys) assert.equal(used.includes(one.public_key), false);
        for (const id of [2, 3]) {
          const last = changes.findLast(([of]) => of === id)?.[1];
          const isTunneled = keys(node, `vxlan-default-${id}`).length > 0;
          assert.equal(isTunneled, changes.some(([of]) => of === id) && open && !last);
        }
        const incremental = sorted(node.config);
        await node.resync();
        assert.deepEqual(sorted(node.config), incremental);
      }),
      { numRuns: 30 },
    );
  });
});
