/** Services at sockets as clients and the scheduler see them; every implementation passes it. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  type Frontend,
  type FrontendScope,
  maxExemptionLength,
  type NodeAddress,
  type SocketMapping,
  type SocketProtocol,
  type SocketService,
  type SocketTable,
} from '#linux/socket-services/api.ts';
import type { SkipReason } from '#test/support/requirements.ts';

export interface Place {
  readonly address: string;
  readonly port: number;
}

/** Text of the backend that answers, with its port; undefined: no service has the address. */
export type Reached = string | 'refused' | undefined;

export interface SocketBackendUnderTest {
  /** As the agent has it; after `restart` the one of the next agent. */
  readonly table: SocketTable;
  /** Paths of the two network namespaces. */
  readonly namespaces: readonly [string, string];
  restart(): Promise<void>;
  /** From one of two network namespaces. */
  connect(namespace: 0 | 1, to: Place): Promise<Reached>;
  /** A datagram of a socket without a connection. */
  send(namespace: 0 | 1, socket: string, to: Place): Promise<Reached>;
  /** Time of affinity passes. */
  wait(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Servers that a backend must have in both namespaces. */
export const servers: readonly Place[] = [
  ...['127.0.0.2', '127.0.0.3', '127.0.0.4'].map((address) => ({ address, port: 8080 })),
  { address: '::1', port: 8081 },
  { address: '::1', port: 8082 },
];

const PORT = 80;
const three = servers.slice(0, 3);
const web = { address: '10.96.0.10', port: PORT };
const six = { address: 'fd96::10', port: PORT };
const nodePort = { address: '0.0.0.0', port: 30_080 };
const nodes: readonly NodeAddress[] = [
  { address: '172.16.0.1', isLocal: true },
  { address: '172.16.0.2', isLocal: false },
  { address: 'fd16::2', isLocal: false },
];
const text = ({ address, port }: Place): string => `${address} ${port}`;

function mapping(
  frontends: readonly Place[],
  backends: readonly (Place & { readonly weight?: number })[],
  affinityTimeout = 0,
  scope: FrontendScope = 'ADDRESS',
): SocketMapping {
  const protocols: readonly SocketProtocol[] = ['TCP', 'UDP'];
  return {
    frontends: frontends.flatMap((one) =>
      protocols.map((protocol): Frontend => ({ ...one, protocol, scope })),
    ),
    backends: backends.map((one) => ({ weight: 1, ...one })),
    affinityTimeout,
    hostSource: '',
  };
}

/** Bound of chi² with 2 degrees of freedom that one of a million runs exceeds. */
const CHI_SQUARE = 27.6;

export function testSocketTable(
  name: string,
  skip: SkipReason,
  open: () => Promise<SocketBackendUnderTest>,
): void {
  describe(`services at sockets of ${name}`, { skip }, () => {
    let one: SocketBackendUnderTest;

    before(async () => {
      one = await open();
    });
    after(() => one.close());
    beforeEach(async () => {
      for (const service of await one.table.services()) await one.table.delete(service.name);
      for (const { address } of await one.table.nodeAddresses())
        await one.table.deleteNodeAddress(address);
      for (const { name } of await one.table.exemptNamespaces()) await one.table.endExemption(name);
    });

    const put = (...mappings: readonly SocketMapping[]): Promise<void> =>
      one.table.put({ name: 'default/web', mappings });

    async function shares(to: Place, rounds: number): Promise<ReadonlyMap<Reached, number>> {
      const counts = new Map<Reached, number>();
      for (let round = 0; round < rounds; round++) {
        const reached = await one.connect(0, to);
        counts.set(reached, (counts.get(reached) ?? 0) + 1);
      }
      return counts;
    }

    test('connections reach each backend by its weight', async () => {
      const weights = [1, 2, 5];
      await put(
        mapping(
          [web],
          three.map((place, at) => ({ ...place, weight: weights[at]! })),
        ),
      );
      const rounds = 800;
      const counts = await shares(web, rounds);
      const chiSquare = three.reduce((sum, place, at) => {
        const expected = (rounds * weights[at]!) / 8;
        return sum + ((counts.get(text(place)) ?? 0) - expected) ** 2 / expected;
      }, 0);
      assert.ok(chiSquare < CHI_SQUARE, `chi² ${chiSquare}: ${[...counts].join('; ')}`);
    });

    test('addresses of both families, and IPv4 written as IPv6', async () => {
      await put(mapping([web], three.slice(0, 1)), mapping([six], servers.slice(3, 4)));
      assert.equal(await one.connect(0, web), '127.0.0.2 8080');
      assert.equal(await one.connect(0, six), '::1 8081');
      assert.equal(await one.send(0, 'six', six), '::1 8081');
    });

    test('other ports and other addresses are unchanged', async () => {
      await put(mapping([web], three));
      assert.equal(await one.connect(0, { ...web, port: 81 }), undefined);
      assert.equal(await one.connect(0, { ...web, address: '10.96.0.11' }), undefined);
    });

    test('without backends clients are refused', async () => {
      await put(mapping([web], []));
      assert.equal(await one.connect(0, web), 'refused');
      assert.equal(await one.send(0, 'refused', web), 'refused');
    });

    test('datagrams of a socket stay with their backend until it goes', async () => {
      await put(mapping([web], three));
      const first = await one.send(0, 'flow', web);
      for (let round = 0; round < 20; round++) assert.equal(await one.send(0, 'flow', web), first);
      await put(
        mapping(
          [web],
          three.filter((place) => text(place) !== first),
        ),
      );
      const next = await one.send(0, 'flow', web);
      assert.notEqual(next, first);
      await put(mapping([web], three));
      assert.equal(await one.send(0, 'flow', web), next);
    });

    test('with affinity a namespace reaches one backend, while the others change', async () => {
      await put(mapping([web], three, 3600));
      const first = await one.connect(0, web);
      for (let round = 0; round < 20; round++) assert.equal(await one.connect(0, web), first);
      for (const gone of three.filter((place) => text(place) !== first)) {
        await put(
          mapping(
            [web],
            three.filter((place) => place !== gone),
            3600,
          ),
        );
        assert.equal(await one.connect(0, web), first);
      }
      await put(
        mapping(
          [web],
          three.filter((place) => text(place) !== first),
          3600,
        ),
      );
      const second = await one.connect(0, web);
      assert.notEqual(second, first);
      await put(mapping([web], three, 3600));
      assert.equal(await one.connect(0, web), second);
      // the other namespace, 3^-40 in 40 services with the same choice
      const others = new Set<Reached>();
      for (let at = 0; at < 40; at++) {
        const other = { address: `10.96.1.${at}`, port: PORT };
        await one.table.put({ name: `default/${at}`, mappings: [mapping([other], three, 3600)] });
        others.add(
          (await one.connect(0, other)) === (await one.connect(1, other)) ? 'same' : 'other',
        );
      }
      assert.ok(others.has('other'));
    });

    test('and an address keeps it while another one of its mapping gets other backends', async () => {
      const other = { address: '10.96.0.20', port: PORT };
      await put(mapping([web, other], three, 3600));
      const first = await one.connect(0, web);
      await put(mapping([other], three.slice(0, 1), 3600), mapping([web], three, 3600));
      assert.equal(await one.connect(0, other), '127.0.0.2 8080');
      for (let round = 0; round < 20; round++) assert.equal(await one.connect(0, web), first);
    });

    test('affinity ends with its time', async () => {
      await put(mapping([web], three, 1));
      const reached = new Set<Reached>();
      // one server 20 times: 3^-19
      for (let round = 0; round < 20 && reached.size < 2; round++) {
        reached.add(await one.connect(0, web));
        await one.wait(1100);
      }
      assert.equal(reached.size, 2);
    });

    test('a change touches what it concerns', async () => {
      const other = { address: '10.96.0.20', port: PORT };
      const external = { address: '192.0.2.1', port: 8000 };
      await put(mapping([web, external], three), mapping([other], three.slice(0, 1)));
      await put(mapping([web], three.slice(0, 1)), mapping([other, external], three.slice(1, 2)));
      assert.equal(await one.connect(0, web), '127.0.0.2 8080');
      assert.equal(await one.connect(0, other), '127.0.0.3 8080');
      assert.equal(await one.connect(0, external), '127.0.0.3 8080');
      await put(mapping([other], three.slice(1, 2)));
      assert.equal(await one.connect(0, web), undefined);
      assert.equal(await one.connect(0, external), undefined);
      assert.equal(await one.connect(0, other), '127.0.0.3 8080');
    });

    test('an address that a service releases can be that of another one', async () => {
      await put(mapping([web], three.slice(0, 1)));
      await one.table.delete('default/web');
      assert.equal(await one.connect(0, web), undefined);
      await one.table.put({ name: 'other/web', mappings: [mapping([web], three.slice(1, 2))] });
      assert.equal(await one.connect(0, web), '127.0.0.3 8080');
    });

    test('a node port is reached at each address of a node', async () => {
      await put(
        mapping([web], three, 3600),
        mapping([nodePort], three.slice(0, 1), 0, 'THIS_NODE'),
        mapping([nodePort], three.slice(1, 2), 0, 'OTHER_NODES'),
        mapping(
          [{ ...six, address: '::', port: nodePort.port }],
          servers.slice(3, 4),
          0,
          'OTHER_NODES',
        ),
      );
      const [own, other, otherSix] = nodes.map(({ address }) => ({ address, port: nodePort.port }));
      assert.equal(await one.connect(0, own!), undefined);
      for (const node of nodes) await one.table.putNodeAddress(node);
      assert.equal(await one.connect(0, own!), '127.0.0.2 8080');
      assert.equal(await one.send(0, 'node port', own!), '127.0.0.2 8080');
      assert.equal(await one.connect(0, other!), '127.0.0.3 8080');
      assert.equal(await one.send(0, 'node port', other!), '127.0.0.3 8080');
      assert.equal(await one.connect(0, otherSix!), '::1 8081');
      assert.equal(await one.connect(0, { ...own!, port: PORT }), undefined);
      assert.equal(await one.connect(0, { ...own!, address: '172.16.0.3' }), undefined);
    });

    test('an address of a node may become that of another one, and none', async () => {
      const [, node] = nodes;
      const to = { address: node!.address, port: nodePort.port };
      await put(
        mapping([nodePort], three.slice(0, 1), 0, 'THIS_NODE'),
        mapping([nodePort], [], 0, 'OTHER_NODES'),
      );
      await one.table.putNodeAddress(node!);
      assert.equal(await one.connect(0, to), 'refused');
      await one.table.putNodeAddress({ ...node!, isLocal: true });
      assert.equal(await one.connect(0, to), '127.0.0.2 8080');
      await one.restart();
      assert.deepEqual(await one.table.nodeAddresses(), [{ ...node!, isLocal: true }]);
      assert.equal(await one.connect(0, to), '127.0.0.2 8080');
      await one.table.deleteNodeAddress(node!.address);
      assert.equal(await one.connect(0, to), undefined);
    });

    test('links of the host are found by the next agent, changed and removed', async () => {
      const loopback = { index: 1, toVpp: { index: 1, gateway: '172.30.1.1' } };
      await one.table.putLink(loopback);
      await one.restart();
      assert.deepEqual(await one.table.links(), [loopback]);
      await one.table.putLink({ index: 1, toVpp: undefined });
      assert.deepEqual(await one.table.links(), [{ index: 1, toVpp: undefined }]);
      await one.table.deleteLink(1);
      await one.table.deleteLink(1);
      assert.deepEqual(await one.table.links(), []);
    });

    test('a service with the address of a node precedes its node port', async () => {
      const [node] = nodes;
      const to = { address: node!.address, port: nodePort.port };
      await one.table.putNodeAddress(node!);
      await put(
        mapping([nodePort], three.slice(0, 1), 0, 'THIS_NODE'),
        mapping([to], three.slice(1, 2)),
      );
      assert.equal(await one.connect(0, to), '127.0.0.3 8080');
      await put(mapping([nodePort], three.slice(0, 1), 0, 'THIS_NODE'));
      assert.equal(await one.connect(0, to), '127.0.0.2 8080');
    });

    test('addresses of nodes share the affinity of their mapping with those of the service', async () => {
      for (const node of nodes) await one.table.putNodeAddress(node);
      const ofService = mapping([web], three, 3600);
      const ofNodes = (['THIS_NODE', 'OTHER_NODES'] as const).map((scope) =>
        mapping([nodePort], three, 3600, scope),
      );
      const frontends = [ofService, ...ofNodes].flatMap((each) => each.frontends);
      await put({ ...ofService, frontends });
      const first = await one.connect(0, web);
      for (let round = 0; round < 20; round++)
        for (const { address } of nodes.slice(0, 2))
          assert.equal(await one.connect(0, { address, port: nodePort.port }), first);
    });

    test('what asks for no address gets no node port', async () => {
      for (const node of nodes) await one.table.putNodeAddress(node);
      await put(mapping([nodePort], three.slice(0, 1), 0, 'THIS_NODE'));
      // the kernel connects it to loopback, which has no listener at this port
      assert.notEqual(await one.connect(0, nodePort), '127.0.0.2 8080');
    });

    test('sockets of an exempt namespace are left alone, those of others are not', async () => {
      await put(mapping([web], three.slice(0, 1)), mapping([six], []));
      await one.table.exempt({ name: 'pod', path: one.namespaces[0] });
      assert.equal(await one.connect(0, web), undefined);
      assert.equal(await one.send(0, 'exempt', web), undefined);
      assert.equal(await one.connect(0, six), undefined);
      assert.equal(await one.connect(1, web), '127.0.0.2 8080');
      assert.equal(await one.connect(1, six), 'refused');
      await one.restart();
      const exempt = [{ name: 'pod', path: one.namespaces[0] }];
      assert.deepEqual(await one.table.exemptNamespaces(), exempt);
      assert.equal(await one.connect(0, web), undefined);
      await one.table.endExemption('another pod');
      await one.table.exempt({ name: 'another pod', path: one.namespaces[1] });
      await one.table.endExemption('pod');
      assert.equal(await one.connect(0, web), '127.0.0.2 8080');
      assert.equal(await one.connect(1, web), undefined);
    });

    test('names and paths of exemptions have their lengths', async () => {
      const name = 'c'.repeat(maxExemptionLength.name);
      await one.table.exempt({ name, path: one.namespaces[0] });
      await one.restart();
      assert.deepEqual(await one.table.exemptNamespaces(), [{ name, path: one.namespaces[0] }]);
    });

    test('the table is read as it was written, by the next agent, too', async () => {
      const services: readonly SocketService[] = [
        { name: 'a/empty', mappings: [mapping([{ address: '10.96.0.1', port: 443 }], [])] },
        {
          name: 'b/many',
          mappings: [
            mapping(
              [web, { address: '192.0.2.7', port: 1 }],
              three.map((place) => ({ ...place, weight: 4 })),
              10_800,
            ),
            mapping([six], servers.slice(3)),
          ],
        },
      ];
      for (const service of services) await one.table.put(service);
      const written = await one.table.services();
      assert.deepEqual(
        written.map(({ name }) => name),
        ['a/empty', 'b/many'],
      );
      const [many] = written[1]!.mappings.filter(({ affinityTimeout }) => affinityTimeout > 0);
      assert.deepEqual(
        many!.backends,
        three.map((place) => ({ ...place, weight: 1 })),
      );
      assert.equal(many!.frontends.length, 4);
      await one.restart();
      assert.deepEqual(await one.table.services(), written);
      assert.ok((await one.connect(0, six))?.startsWith('::1'));
    });

    test('200 backends, and names with characters of two bytes', async () => {
      const many = Array.from({ length: 200 }, (_, at) => ({
        address: `10.1.0.${at + 1}`,
        port: 8080,
      }));
      await one.table.put({ name: 'ä'.repeat(160), mappings: [mapping([web], many)] });
      const [service] = await one.table.services();
      assert.equal(service!.name, 'ä'.repeat(160));
      assert.equal(service!.mappings[0]!.backends.length, 200);
    });
  });
}
