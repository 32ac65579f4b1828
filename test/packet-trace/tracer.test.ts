/** Forwarding rules of the tracer, on small snapshots. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Device, Route } from '#packet-trace/snapshot.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { device, iface, snapshot, verdict, via } from './snapshot-builder.ts';

const a = device('a', {
  interfaces: [iface('eth0', ['10.0.0.1/24'])],
  routes: [via('0.0.0.0/0', 'eth0', '10.0.0.254')],
  forwards: false,
});

describe('a packet trace', () => {
  it('is delivered over a wire, and over a router', () => {
    const router = device('r', {
      interfaces: [iface('in', ['10.0.0.254/24']), iface('out', ['10.1.0.254/24'])],
    });
    const b = device('b', { interfaces: [iface('eth0', ['10.1.0.1/24'])], forwards: false });
    const all = snapshot([a, router, b], 'a.eth0-r.in', 'r.out-b.eth0');
    for (const destination of ['10.0.0.254', '10.1.0.254', '10.1.0.1'])
      assert.equal(tracePacket(all, 'a', { source: '10.0.0.1', destination }).verdict, 'delivered');
    const none = tracePacket(all, 'a', { source: '10.0.0.1', destination: '10.1.0.9' });
    assert.match(verdict(none), /^dropped: dropped: no device behind out has 10\.1\.0\.9/);
    const lost = tracePacket(all, 'a', { source: '10.0.0.1', destination: '10.9.0.1' });
    assert.match(verdict(lost), /no route to 10\.9\.0\.1 in table 0/);
  });

  it('reports the interfaces that it passes, in their order', () => {
    const router = device('r', {
      interfaces: [iface('in', ['10.0.0.254/24']), iface('out', ['10.1.0.254/24'])],
    });
    const b = device('b', { interfaces: [iface('eth0', ['10.1.0.1/24'])], forwards: false });
    const all = snapshot([a, router, b], 'a.eth0-r.in', 'r.out-b.eth0');
    const seen: string[] = [];
    const packet = { source: '10.0.0.1', destination: '10.1.0.1' };
    tracePacket(all, 'a', packet, {
      observe: ({ device: at, interface: name, kind, side }) =>
        seen.push(`${at}.${name} ${kind} ${side}`),
    });
    assert.deepEqual(seen, [
      'a.eth0 sent output',
      'r.in received input',
      'r.out sent output',
      'b.eth0 received input',
    ]);
  });

  it('leaves on an open wire, and ends at a loopback', () => {
    const open = snapshot([a], 'a.eth0-');
    const left = tracePacket(open, 'a', { source: '10.0.0.1', destination: '8.8.8.8' });
    assert.match(verdict(left), /^left: leaves by eth0 to 10\.0\.0\.254/);
    const loop = device('l', { interfaces: [iface('lo', ['10.3.0.1/24'], { isLoopback: true })] });
    const stuck = tracePacket(snapshot([loop], 'l.lo-'), 'l', {
      source: '10.3.0.1',
      destination: '10.3.0.2',
    });
    assert.match(verdict(stuck), /^dropped/);
  });

  it('ends in a forwarding loop', () => {
    const left = device('left', {
      interfaces: [iface('eth0', ['10.0.0.1/24'])],
      routes: [via('0.0.0.0/0', 'eth0', '10.0.0.2')],
    });
    const right = device('right', {
      interfaces: [iface('eth0', ['10.0.0.2/24'])],
      routes: [via('0.0.0.0/0', 'eth0', '10.0.0.1')],
    });
    const all = snapshot([left, right], 'left.eth0-right.eth0');
    const way = tracePacket(all, 'left', { source: '10.0.0.1', destination: '8.8.8.8' });
    assert.match(verdict(way), /in a forwarding loop/);
    const self: Route = {
      table: 0,
      destination: '0.0.0.0/0',
      preference: 0,
      action: { kind: 'table', table: 0 },
      key: '',
    };
    const looping = snapshot([device('x', { interfaces: [], routes: [self] })]);
    assert.match(
      verdict(tracePacket(looping, 'x', { source: '1.1.1.1', destination: '8.8.8.8' })),
      /in a forwarding loop/,
    );
  });

  it('resolves a next hop without an interface, but not one that depends on itself', () => {
    const recursive = (nextHop: string): Route => ({
      table: 0,
      destination: '8.0.0.0/8',
      preference: 0,
      action: { kind: 'recursive', nextHop },
      key: '',
    });
    const there = device('a', {
      interfaces: [iface('eth0', ['10.0.0.1/24'])],
      routes: [recursive('10.0.0.2')],
    });
    const b = device('b', { interfaces: [iface('eth0', ['10.0.0.2/24', '8.8.8.8/32'])] });
    const packet = { source: '10.0.0.1', destination: '8.8.8.8' };
    const all = snapshot([there, b], 'a.eth0-b.eth0');
    assert.equal(tracePacket(all, 'a', packet).verdict, 'delivered');
    const nowhere = device('a', { interfaces: [], routes: [recursive('8.0.0.1')] });
    assert.match(verdict(tracePacket(snapshot([nowhere]), 'a', packet)), /unreachable next hop/);
  });

  it('takes the longest match, and prints the number of equal paths', () => {
    const router = device('r', {
      interfaces: [iface('one', []), iface('two', []), iface('three', [])],
      routes: [
        via('10.0.0.0/8', 'one'),
        via('10.1.0.0/16', 'two'),
        via('10.1.0.0/16', 'three'),
        { ...via('10.1.2.0/24', 'one'), action: { kind: 'drop' } },
      ],
    });
    const hops = (destination: string) =>
      tracePacket(snapshot([router]), 'r', { source: '1.1.1.1', destination }).hops[0]?.description;
    assert.match(hops('10.9.0.1')!, /10\.0\.0\.0\/8 .* on one$/);
    assert.match(hops('10.1.0.1')!, /on two \(the first of 2 paths\)/);
    assert.match(hops('10.1.2.1')!, /10\.1\.2\.0\/24 of table 0 drops/);
  });

  it('is refused by a route that reports the destination as unreachable', () => {
    const route: Route = { ...via('10.96.0.0/12', ''), action: { kind: 'refuse' } };
    const router = device('r', { interfaces: [], routes: [route] });
    const packet = { source: '1.1.1.1', destination: '10.96.0.1' };
    const refused = tracePacket(snapshot([router]), 'r', packet);
    assert.match(verdict(refused), /^refused: refused: route 10\.96\.0\.0\/12 of table 0/);
  });

  it('is dropped at interfaces that are down or do not exist', () => {
    for (const [up, what] of [
      [false, /eth0 is down/],
      [undefined, /interface eth0 does not exist/],
    ] as const) {
      const interfaces = up === undefined ? [] : [iface('eth0', [], { up })];
      const one = device('a', { interfaces, routes: [via('0.0.0.0/0', 'eth0')] });
      const way = tracePacket(snapshot([one]), 'a', { source: '1.1.1.1', destination: '8.8.8.8' });
      assert.match(verdict(way), what);
    }
  });

  it('is not delivered to a MAC that no interface has', () => {
    const mac = '02:00:00:00:00:02';
    const b = device('b', { interfaces: [iface('eth0', ['10.0.0.2/24'], { mac })] });
    for (const [known, arrives] of [
      [mac, 'delivered'],
      ['02:00:00:00:00:09', 'dropped'],
    ] as const) {
      const neighbors = [{ interface: 'eth0', address: '10.0.0.2', mac: known, key: '' }];
      const one = device('a', { interfaces: [iface('eth0', ['10.0.0.1/24'])], neighbors });
      const way = tracePacket(snapshot([one, b], 'a.eth0-b.eth0'), 'a', {
        source: '10.0.0.1',
        destination: '10.0.0.2',
      });
      assert.equal(way.verdict, arrives);
    }
  });
});

describe('with several routes a packet trace', () => {
  const packet = { source: '1.1.1.1', destination: '8.8.8.8' };
  const first = (one: Device) =>
    tracePacket(snapshot([one]), one.name, packet).hops[0]?.description ?? '';

  it('ignores those whose interface is down or whose next hop is unreachable', () => {
    const router = device('r', {
      interfaces: [
        iface('down', [], { enabled: true, up: false }),
        iface('one', ['10.0.0.1/24']),
        iface('two', []),
      ],
      routes: [
        via('8.0.0.0/8', 'down'),
        { ...via('8.0.0.0/8', ''), action: { kind: 'recursive', nextHop: '10.9.9.9' } },
        via('8.0.0.0/8', 'one'),
        via('8.0.0.0/8', 'two'),
      ],
    });
    assert.match(first(router), /on one \(the first of 2 paths\)$/);
  });

  it('uses the preferred one', () => {
    const router = device('r', {
      interfaces: [iface('one', []), iface('two', [])],
      routes: [{ ...via('8.0.0.0/8', 'one'), preference: 2 }, via('8.0.0.0/8', 'two')],
    });
    assert.match(first(router), /on two$/);
  });

  it('does not count a neighbor or a connected network as a path', () => {
    const neighbors = [{ interface: 'one', address: '8.8.8.8', mac: '', key: '' }];
    const routes = [via('8.8.8.8/32', 'two')];
    const interfaces = [iface('one', []), iface('two', [])];
    const beside = device('r', { interfaces, routes, neighbors, routesToNeighbors: true });
    assert.match(first(beside), /8\.8\.8\.8 on two$/);
    const within = device('r', {
      interfaces: [iface('one', ['8.8.8.1/24']), iface('two', [])],
      routes: [via('8.8.8.0/24', 'two')],
    });
    assert.match(first(within), /on one$/);
  });
});

describe('a next hop', () => {
  const packet = { source: '1.1.1.1', destination: '8.8.8.8' };
  const recursive = (destination: string, nextHop: string, table?: number): Route => ({
    table: 0,
    destination,
    preference: 0,
    action: { kind: 'recursive', nextHop, ...(table !== undefined && { table }) },
    key: '',
  });
  const b = device('b', { interfaces: [iface('eth0', ['10.0.0.2/24', '8.8.8.8/32'])] });

  it('may be resolved recursively', () => {
    const routes = [recursive('8.0.0.0/8', '9.0.0.1'), recursive('9.0.0.0/8', '10.0.0.2')];
    const one = device('a', { interfaces: [iface('eth0', ['10.0.0.1/24'])], routes });
    const way = tracePacket(snapshot([one, b], 'a.eth0-b.eth0'), 'a', packet);
    assert.equal(verdict(way).slice(0, 9), 'delivered', verdict(way));
    assert.match(
      way.hops[0]!.description,
      /8\.0\.0\.0\/8 of table 0 leads to 10\.0\.0\.2 on eth0$/,
    );
  });

  it('may be in another table', () => {
    const one = device('a', {
      interfaces: [iface('eth0', ['10.0.0.1/24'], { table: 2 })],
      routes: [recursive('8.0.0.0/8', '10.0.0.2', 2)],
    });
    const way = tracePacket(snapshot([one, b], 'a.eth0-b.eth0'), 'a', packet);
    assert.equal(way.verdict, 'delivered', verdict(way));
  });

  it('is the interface with the MAC, even if the MACs of others are unknown', () => {
    const mac = '02:00:00:00:00:02';
    const silent = device('silent', { interfaces: [iface('eth0', ['10.0.0.3/24'])] });
    const right = device('right', {
      interfaces: [iface('eth0', ['10.0.0.2/24', '8.8.8.8/32'], { mac })],
    });
    for (const end of [right, b]) {
      const one = device('a', {
        interfaces: [iface('eth0', ['10.0.0.1/24'])],
        routes: [via('8.0.0.0/8', 'eth0', '10.0.0.2')],
        neighbors: [{ interface: 'eth0', address: '10.0.0.2', mac, key: '' }],
      });
      const all = snapshot([one, silent, end], `a.eth0-silent.eth0-${end.name}.eth0`);
      assert.equal(tracePacket(all, 'a', packet).verdict, 'delivered');
    }
  });
});

describe('an interface that is enabled and has no link', () => {
  const node = device('n', {
    interfaces: [
      iface('pods', ['10.1.0.254/24']),
      iface('nic', ['192.0.2.1/24'], { enabled: true, up: false }),
    ],
    routes: [via('0.0.0.0/0', 'pods', '10.1.0.1')],
  });

  it('keeps its address, and drops packets to its network', () => {
    const all = snapshot([node]);
    const to = (destination: string) => tracePacket(all, 'n', { source: '10.1.0.1', destination });
    assert.equal(to('192.0.2.1').verdict, 'delivered');
    assert.match(verdict(to('192.0.2.9')), /nic is down/);
  });

  it('has neither when it is not enabled', () => {
    const interfaces = [iface('nic', ['192.0.2.1/24'], { up: false })];
    const all = snapshot([device('n', { interfaces })]);
    const way = tracePacket(all, 'n', { source: '10.1.0.1', destination: '192.0.2.1' });
    assert.match(verdict(way), /no route to 192\.0\.2\.1/);
  });
});
