/** The rules of a walk, on snapshots of a few lines. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { network, sameAddress } from '#walker/addresses.ts';
import type { Bridge, Device, Interface, Neighbour, Route, Snapshot } from '#walker/snapshot.ts';
import { type Walk, walk } from '#walker/walk.ts';

function iface(name: string, addresses: readonly string[], change: Partial<Interface> = {}) {
  const base = { table: 0, mac: '', tunnel: undefined, isLoopback: false, by: name };
  const isUp = change.up ?? true;
  return { name, addresses, enabled: isUp, up: isUp, ...base, ...change };
}

interface Parts {
  readonly interfaces: readonly Interface[];
  readonly routes?: readonly Route[];
  readonly neighbours?: readonly Neighbour[];
  readonly bridges?: readonly Bridge[];
  readonly forwards?: boolean;
  readonly routesToNeighbours?: boolean;
}

function device(name: string, parts: Parts): Device {
  const { interfaces, routes = [], neighbours = [], bridges = [], forwards = true } = parts;
  const { routesToNeighbours = false } = parts;
  return {
    name,
    forwards,
    interfaces: new Map(interfaces.map((one) => [one.name, one])),
    routes,
    neighbours,
    routesToNeighbours,
    bridges,
    otherAddresses: [],
    hasOtherRoutes: false,
  };
}

/** @param wires `a.eth0-b.eth0`; one that ends in `-` is open */
function snapshot(devices: readonly Device[], ...wires: readonly string[]): Snapshot {
  return {
    devices: new Map(devices.map((one) => [one.name, one])),
    wires: wires.map((text) => ({
      ports: text
        .split('-')
        .filter(Boolean)
        .map((port) => {
          const [name = '', out = ''] = port.split('.');
          return { device: name, interface: out };
        }),
      isOpen: text.endsWith('-'),
    })),
  };
}

function via(destination: string, out: string, nextHop?: string): Route {
  const action = { kind: 'via', interface: out, nextHop } as const;
  return { table: 0, destination, preference: 0, action, by: `to ${destination}` };
}

function verdict({ verdict: said, hops }: Walk): string {
  return `${said}: ${hops.at(-1)?.what}`;
}

const a = device('a', {
  interfaces: [iface('eth0', ['10.0.0.1/24'])],
  routes: [via('0.0.0.0/0', 'eth0', '10.0.0.254')],
  forwards: false,
});

function members(...names: readonly string[]): Bridge['members'] {
  return names.map((name) => ({ interface: name, group: 0 }));
}

describe('a walk', () => {
  it('is delivered over a wire, and over a router', () => {
    const router = device('r', {
      interfaces: [iface('in', ['10.0.0.254/24']), iface('out', ['10.1.0.254/24'])],
    });
    const b = device('b', { interfaces: [iface('eth0', ['10.1.0.1/24'])], forwards: false });
    const all = snapshot([a, router, b], 'a.eth0-r.in', 'r.out-b.eth0');
    for (const destination of ['10.0.0.254', '10.1.0.254', '10.1.0.1'])
      assert.equal(walk(all, 'a', { source: '10.0.0.1', destination }).verdict, 'delivered');
    const none = walk(all, 'a', { source: '10.0.0.1', destination: '10.1.0.9' });
    assert.match(verdict(none), /^dropped: dropped: nobody behind out is 10\.1\.0\.9/);
    const lost = walk(all, 'a', { source: '10.0.0.1', destination: '10.9.0.1' });
    assert.match(verdict(lost), /no route to 10\.9\.0\.1 in table 0/);
  });

  it('leaves where others are on the wire, and goes no further than a loopback', () => {
    const open = snapshot([a], 'a.eth0-');
    const left = walk(open, 'a', { source: '10.0.0.1', destination: '8.8.8.8' });
    assert.match(verdict(left), /^left: leaves by eth0 to 10\.0\.0\.254/);
    const loop = device('l', { interfaces: [iface('lo', ['10.3.0.1/24'], { isLoopback: true })] });
    const stuck = walk(snapshot([loop], 'l.lo-'), 'l', {
      source: '10.3.0.1',
      destination: '10.3.0.2',
    });
    assert.match(verdict(stuck), /^dropped/);
  });

  it('ends when it goes in circles', () => {
    const left = device('left', {
      interfaces: [iface('eth0', ['10.0.0.1/24'])],
      routes: [via('0.0.0.0/0', 'eth0', '10.0.0.2')],
    });
    const right = device('right', {
      interfaces: [iface('eth0', ['10.0.0.2/24'])],
      routes: [via('0.0.0.0/0', 'eth0', '10.0.0.1')],
    });
    const all = snapshot([left, right], 'left.eth0-right.eth0');
    const way = walk(all, 'left', { source: '10.0.0.1', destination: '8.8.8.8' });
    assert.match(verdict(way), /goes in circles/);
    const self: Route = {
      table: 0,
      destination: '0.0.0.0/0',
      preference: 0,
      action: { kind: 'table', table: 0 },
      by: '',
    };
    const looping = snapshot([device('x', { interfaces: [], routes: [self] })]);
    assert.match(
      verdict(walk(looping, 'x', { source: '1.1.1.1', destination: '8.8.8.8' })),
      /goes in circles/,
    );
  });

  it('looks a next hop up that has no interface, and finds none that leads to itself', () => {
    const recursive = (nextHop: string): Route => ({
      table: 0,
      destination: '8.0.0.0/8',
      preference: 0,
      action: { kind: 'recursive', nextHop },
      by: '',
    });
    const there = device('a', {
      interfaces: [iface('eth0', ['10.0.0.1/24'])],
      routes: [recursive('10.0.0.2')],
    });
    const b = device('b', { interfaces: [iface('eth0', ['10.0.0.2/24', '8.8.8.8/32'])] });
    const packet = { source: '10.0.0.1', destination: '8.8.8.8' };
    const all = snapshot([there, b], 'a.eth0-b.eth0');
    assert.equal(walk(all, 'a', packet).verdict, 'delivered');
    const nowhere = device('a', { interfaces: [], routes: [recursive('8.0.0.1')] });
    assert.match(verdict(walk(snapshot([nowhere]), 'a', packet)), /no interface leads to/);
  });

  it('takes the longest match, and says of how many paths it takes the first', () => {
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
      walk(snapshot([router]), 'r', { source: '1.1.1.1', destination }).hops[0]?.what;
    assert.match(hops('10.9.0.1')!, /10\.0\.0\.0\/8 .* on one$/);
    assert.match(hops('10.1.0.1')!, /on two \(the first of 2 paths\)/);
    assert.match(hops('10.1.2.1')!, /10\.1\.2\.0\/24 of table 0 drops/);
  });

  it('is stopped by interfaces that are down or not there', () => {
    for (const [up, what] of [
      [false, /eth0 is down/],
      [undefined, /interface eth0 is not there/],
    ] as const) {
      const interfaces = up === undefined ? [] : [iface('eth0', [], { up })];
      const one = device('a', { interfaces, routes: [via('0.0.0.0/0', 'eth0')] });
      const way = walk(snapshot([one]), 'a', { source: '1.1.1.1', destination: '8.8.8.8' });
      assert.match(verdict(way), what);
    }
  });

  it('does not arrive under a MAC that nobody has', () => {
    const mac = '02:00:00:00:00:02';
    const b = device('b', { interfaces: [iface('eth0', ['10.0.0.2/24'], { mac })] });
    for (const [known, arrives] of [
      [mac, 'delivered'],
      ['02:00:00:00:00:09', 'dropped'],
    ] as const) {
      const neighbours = [{ interface: 'eth0', address: '10.0.0.2', mac: known, by: '' }];
      const one = device('a', { interfaces: [iface('eth0', ['10.0.0.1/24'])], neighbours });
      const way = walk(snapshot([one, b], 'a.eth0-b.eth0'), 'a', {
        source: '10.0.0.1',
        destination: '10.0.0.2',
      });
      assert.equal(way.verdict, arrives);
    }
  });
});

describe('of several routes a walk', () => {
  const packet = { source: '1.1.1.1', destination: '8.8.8.8' };
  const first = (one: Device) => walk(snapshot([one]), one.name, packet).hops[0]?.what ?? '';

  it('leaves out those whose interface is down or whose next hop leads nowhere', () => {
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

  it('takes the preferred one', () => {
    const router = device('r', {
      interfaces: [iface('one', []), iface('two', [])],
      routes: [{ ...via('8.0.0.0/8', 'one'), preference: 2 }, via('8.0.0.0/8', 'two')],
    });
    assert.match(first(router), /on two$/);
  });

  it('does not count a neighbour, nor the network of an interface, as a path', () => {
    const neighbours = [{ interface: 'one', address: '8.8.8.8', mac: '', by: '' }];
    const routes = [via('8.8.8.8/32', 'two')];
    const interfaces = [iface('one', []), iface('two', [])];
    const beside = device('r', { interfaces, routes, neighbours, routesToNeighbours: true });
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
    by: '',
  });
  const b = device('b', { interfaces: [iface('eth0', ['10.0.0.2/24', '8.8.8.8/32'])] });

  it('may be behind next hops of its own', () => {
    const routes = [recursive('8.0.0.0/8', '9.0.0.1'), recursive('9.0.0.0/8', '10.0.0.2')];
    const one = device('a', { interfaces: [iface('eth0', ['10.0.0.1/24'])], routes });
    const way = walk(snapshot([one, b], 'a.eth0-b.eth0'), 'a', packet);
    assert.equal(verdict(way).slice(0, 9), 'delivered', verdict(way));
    assert.match(way.hops[0]!.what, /8\.0\.0\.0\/8 of table 0 leads to 10\.0\.0\.2 on eth0$/);
  });

  it('may be in another table', () => {
    const one = device('a', {
      interfaces: [iface('eth0', ['10.0.0.1/24'], { table: 2 })],
      routes: [recursive('8.0.0.0/8', '10.0.0.2', 2)],
    });
    const way = walk(snapshot([one, b], 'a.eth0-b.eth0'), 'a', packet);
    assert.equal(way.verdict, 'delivered', verdict(way));
  });

  it('has the MAC of exactly one on the wire, though others do not tell theirs', () => {
    const mac = '02:00:00:00:00:02';
    const silent = device('silent', { interfaces: [iface('eth0', ['10.0.0.3/24'])] });
    const right = device('right', {
      interfaces: [iface('eth0', ['10.0.0.2/24', '8.8.8.8/32'], { mac })],
    });
    for (const end of [right, b]) {
      const one = device('a', {
        interfaces: [iface('eth0', ['10.0.0.1/24'])],
        routes: [via('8.0.0.0/8', 'eth0', '10.0.0.2')],
        neighbours: [{ interface: 'eth0', address: '10.0.0.2', mac, by: '' }],
      });
      const all = snapshot([one, silent, end], `a.eth0-silent.eth0-${end.name}.eth0`);
      assert.equal(walk(all, 'a', packet).verdict, 'delivered');
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

  it('keeps its address, and drops what is for its network', () => {
    const all = snapshot([node]);
    const to = (destination: string) => walk(all, 'n', { source: '10.1.0.1', destination });
    assert.equal(to('192.0.2.1').verdict, 'delivered');
    assert.match(verdict(to('192.0.2.9')), /nic is down/);
  });

  it('has neither when it is not enabled', () => {
    const interfaces = [iface('nic', ['192.0.2.1/24'], { up: false })];
    const all = snapshot([device('n', { interfaces })]);
    const way = walk(all, 'n', { source: '10.1.0.1', destination: '192.0.2.1' });
    assert.match(verdict(way), /no route to 192\.0\.2\.1/);
  });
});

describe('a bridge', () => {
  const mac = '02:00:00:00:00:09';
  const of = (change: Partial<Bridge>): Bridge => ({
    name: 'bd',
    members: members('left', 'right'),
    routed: undefined,
    floods: true,
    entries: [],
    by: 'bd',
    ...change,
  });
  const sender = device('pod', {
    interfaces: [iface('eth0', ['10.0.0.1/24'])],
    neighbours: [{ interface: 'eth0', address: '10.0.0.9', mac, by: '' }],
  });
  const end = device('end', { interfaces: [iface('eth0', ['10.0.0.9/24'], { mac })] });
  const packet = { source: '10.0.0.1', destination: '10.0.0.9' };
  const switchOf = (name: string, change: Partial<Bridge>) =>
    device(name, {
      interfaces: ['left', 'right', 'more', 'most'].map((one) => iface(one, [])),
      bridges: [of(change)],
    });
  const through = (change: Partial<Bridge>) =>
    walk(
      snapshot([sender, switchOf('s', change), end], 'pod.eth0-s.left', 's.right-end.eth0'),
      'pod',
      packet,
    );

  it('passes nothing from one member of a split-horizon group to another', () => {
    const entries = [{ mac, interface: 'right', by: '' }];
    const grouped = [1, 1].map((group, index) => ({ interface: ['left', 'right'][index]!, group }));
    assert.equal(through({ entries }).verdict, 'delivered');
    assert.match(verdict(through({ entries, members: grouped })), /one split-horizon group/);
    assert.match(verdict(through({ members: grouped })), /no copy/);
  });

  it('passes nothing back to where it came from', () => {
    const entries = [{ mac, interface: 'left', by: '' }];
    assert.match(verdict(through({ entries })), /left is where it came from/);
  });

  it('says that a copy has left, where none arrives', () => {
    const all = snapshot([sender, switchOf('s', {})], 'pod.eth0-s.left', 's.right-');
    assert.match(verdict(walk(all, 'pod', packet)), /^left: leaves by right/);
  });

  it('in a circle of bridges ends, however often a frame is copied', () => {
    const all = members('left', 'right', 'more', 'most');
    const first = switchOf('s', { members: all });
    const second = switchOf('t', { members: all });
    const wires = ['right', 'more', 'most'].map((one) => `s.${one}-t.${one}`);
    const way = walk(snapshot([sender, first, second], 'pod.eth0-s.left', ...wires), 'pod', packet);
    assert.match(verdict(way), /no copy/);
    const arrives = snapshot(
      [sender, first, second, end],
      'pod.eth0-s.left',
      't.left-end.eth0',
      ...wires,
    );
    assert.equal(walk(arrives, 'pod', packet).verdict, 'delivered');
  });
});

describe('a walk through a tunnel', () => {
  const mac = (id: number) => `02:00:00:00:00:0${id}`;

  function end(id: 1 | 2, change: Partial<Bridge> = {}, vni = 10): Device {
    const other = 3 - id;
    const tunnel = {
      source: `192.0.2.${id}`,
      destination: `192.0.2.${other}`,
      vni,
      table: 0,
    };
    return device(`node${id}`, {
      interfaces: [
        iface('nic', [`192.0.2.${id}/24`]),
        iface('bvi', [`10.0.0.${id}/24`], { table: 1, mac: mac(id) }),
        iface('tunnel', [], { tunnel }),
      ],
      routes: [],
      neighbours: [{ interface: 'bvi', address: `10.0.0.${other}`, mac: mac(other), by: '' }],
      bridges: [
        {
          name: 'bd',
          members: members('bvi', 'tunnel'),
          routed: 'bvi',
          floods: false,
          entries: [{ mac: mac(other), interface: 'tunnel', by: 'entry' }],
          by: 'bd',
          ...change,
        },
      ],
    });
  }

  function through(first: Device, second: Device): Walk {
    const sender = device('pod', {
      interfaces: [iface('eth0', ['10.1.0.1/32'])],
      routes: [via('0.0.0.0/0', 'eth0', '10.1.0.254')],
      forwards: false,
    });
    const interfaces = new Map(first.interfaces);
    interfaces.set('pods', iface('pods', ['10.1.0.254/32'], { table: 1 }));
    const all = snapshot(
      [sender, { ...first, interfaces }, second],
      'pod.eth0-node1.pods',
      'node1.nic-node2.nic',
    );
    return walk(all, 'pod', { source: '10.1.0.1', destination: '10.0.0.2' });
  }

  it('is delivered behind it', () => {
    const way = through(end(1), end(2));
    assert.equal(way.verdict, 'delivered', way.hops.map(({ what }) => what).join('\n'));
    assert.ok(way.hops.some(({ by }) => by === 'entry'));
  });

  it('is dropped where the other end has another VNI', () => {
    assert.match(verdict(through(end(1), end(2, {}, 11))), /VNI 10 belongs to no tunnel/);
  });

  it('is dropped or flooded where the MAC is not known, as the bridge does', () => {
    assert.match(verdict(through(end(1, { entries: [] }), end(2))), /does not flood/);
    assert.equal(through(end(1, { entries: [], floods: true }), end(2)).verdict, 'delivered');
    const nobody = end(2, { routed: undefined });
    assert.match(verdict(through(end(1, { entries: [], floods: true }), nobody)), /no copy/);
  });

  it('is dropped where an entry says so', () => {
    const entries = [{ mac: mac(2), interface: undefined, by: '' }];
    assert.match(verdict(through(end(1, { entries }), end(2))), /drops what is for/);
  });
});

describe('networks', () => {
  it('contain what shares their first bits, in both families', () => {
    const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, fc.nat(128), fc.nat(127), (parts, length, flipped) => {
        const text = (bits: bigint) =>
          bits
            .toString(16)
            .padStart(32, '0')
            .replace(/(.{4})(?=.)/g, '$1:');
        const bits = parts.reduce((sum, part) => (sum << 16n) + BigInt(part), 0n);
        const other = bits ^ (1n << BigInt(127 - flipped));
        assert.ok(network(`${text(bits)}/${length}`).contains(text(bits)));
        assert.equal(network(`${text(bits)}/${length}`).contains(text(other)), flipped >= length);
      }),
    );
    assert.ok(network('10.1.2.3/24').contains('10.1.2.255'));
    assert.ok(!network('10.1.2.0/24').contains('10.1.3.0'));
    assert.ok(!network('::/0').contains('10.0.0.1'));
  });

  it('know an address in each of its spellings', () => {
    assert.ok(sameAddress('2001:db8::1', '2001:0db8:0:0:0:0:0:1'));
    assert.ok(sameAddress('::', '0:0:0:0:0:0:0:0'));
    assert.ok(sameAddress('10.0.0.1/24', '10.0.0.1'));
    assert.ok(!sameAddress('10.0.0.1', '::a00:1'));
    assert.ok(sameAddress('::ffff:10.0.0.1', '::ffff:a00:1'));
    assert.ok(sameAddress('2001:db8::1.2.3.4', '2001:db8:0:0:0:0:102:304'));
    assert.ok(sameAddress('fe80::1%eth0', 'fe80::1'));
  });
});
