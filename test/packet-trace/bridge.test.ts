/** Traces through bridges and tunnels. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Bridge, Device } from '#packet-trace/snapshot.ts';
import { type PacketTrace, tracePacket } from '#packet-trace/tracer.ts';
import { device, iface, members, snapshot, verdict, via } from './snapshot-builder.ts';

describe('a bridge', () => {
  const mac = '02:00:00:00:00:09';
  const of = (change: Partial<Bridge>): Bridge => ({
    name: 'bd',
    members: members('left', 'right'),
    routed: undefined,
    floods: true,
    entries: [],
    key: 'bd',
    ...change,
  });
  const sender = device('pod', {
    interfaces: [iface('eth0', ['10.0.0.1/24'])],
    neighbors: [{ interface: 'eth0', address: '10.0.0.9', mac, key: '' }],
  });
  const end = device('end', { interfaces: [iface('eth0', ['10.0.0.9/24'], { mac })] });
  const packet = { source: '10.0.0.1', destination: '10.0.0.9' };
  const switchOf = (name: string, change: Partial<Bridge>) =>
    device(name, {
      interfaces: ['left', 'right', 'more', 'most'].map((one) => iface(one, [])),
      bridges: [of(change)],
    });
  const through = (change: Partial<Bridge>) =>
    tracePacket(
      snapshot([sender, switchOf('s', change), end], 'pod.eth0-s.left', 's.right-end.eth0'),
      'pod',
      packet,
    );

  it('does not forward between members of a split-horizon group', () => {
    const entries = [{ mac, interface: 'right', key: '' }];
    const grouped = [1, 1].map((group, index) => ({ interface: ['left', 'right'][index]!, group }));
    assert.equal(through({ entries }).verdict, 'delivered');
    assert.match(verdict(through({ entries, members: grouped })), /one split-horizon group/);
    assert.match(verdict(through({ members: grouped })), /no flooded copy/);
  });

  it('does not forward back to the member that the frame entered by', () => {
    const entries = [{ mac, interface: 'left', key: '' }];
    assert.match(verdict(through({ entries })), /the frame entered by left/);
  });

  it('reports that a copy has left if none is delivered', () => {
    const all = snapshot([sender, switchOf('s', {})], 'pod.eth0-s.left', 's.right-');
    assert.match(verdict(tracePacket(all, 'pod', packet)), /^left: leaves by right/);
  });

  it('detects a loop of bridges, even if frames are copied', () => {
    const all = members('left', 'right', 'more', 'most');
    const first = switchOf('s', { members: all });
    const second = switchOf('t', { members: all });
    const wires = ['right', 'more', 'most'].map((one) => `s.${one}-t.${one}`);
    const way = tracePacket(
      snapshot([sender, first, second], 'pod.eth0-s.left', ...wires),
      'pod',
      packet,
    );
    assert.match(verdict(way), /no flooded copy/);
    const arrives = snapshot(
      [sender, first, second, end],
      'pod.eth0-s.left',
      't.left-end.eth0',
      ...wires,
    );
    assert.equal(tracePacket(arrives, 'pod', packet).verdict, 'delivered');
  });
});

describe('a trace through a tunnel', () => {
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
      neighbors: [{ interface: 'bvi', address: `10.0.0.${other}`, mac: mac(other), key: '' }],
      bridges: [
        {
          name: 'bd',
          members: members('bvi', 'tunnel'),
          routed: 'bvi',
          floods: false,
          entries: [{ mac: mac(other), interface: 'tunnel', key: 'entry' }],
          key: 'bd',
          ...change,
        },
      ],
    });
  }

  function through(first: Device, second: Device): PacketTrace {
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
    return tracePacket(all, 'pod', { source: '10.1.0.1', destination: '10.0.0.2' });
  }

  it('is delivered at the other end', () => {
    const way = through(end(1), end(2));
    assert.equal(
      way.verdict,
      'delivered',
      way.hops.map(({ description: what }) => what).join('\n'),
    );
    assert.ok(way.hops.some(({ key }) => key === 'entry'));
  });

  it('is delivered by an interface with addresses and without a bridge, if its neighbor is known', () => {
    const routed = (id: 1 | 2, isKnown = true): Device => {
      const one = end(id, { members: [], routed: undefined });
      const { tunnel } = one.interfaces.get('tunnel')!;
      const address = `10.0.0.${3 - id}`;
      return {
        ...one,
        interfaces: new Map([
          ['nic', one.interfaces.get('nic')!],
          ['tunnel', iface('tunnel', [`10.0.0.${id}/24`], { table: 1, mac: mac(id), tunnel })],
        ]),
        bridges: [],
        neighbors: isKnown ? [{ interface: 'tunnel', address, mac: mac(3 - id), key: '' }] : [],
      };
    };
    const way = through(routed(1), routed(2));
    assert.equal(verdict(way), 'delivered: delivered: 10.0.0.2 is local on tunnel');
    assert.ok(way.hops.some(({ description }) => /^encapsulated in VXLAN/.test(description)));
    assert.match(verdict(through(routed(1, false), routed(2))), /MAC of 10\.0\.0\.2 is unknown/);
  });

  it('is dropped if the other end has another VNI', () => {
    assert.match(verdict(through(end(1), end(2, {}, 11))), /VNI 10 matches no tunnel/);
  });

  it('is dropped or flooded if the MAC is unknown, depending on the bridge', () => {
    assert.match(verdict(through(end(1, { entries: [] }), end(2))), /does not flood/);
    assert.equal(through(end(1, { entries: [], floods: true }), end(2)).verdict, 'delivered');
    const nobody = end(2, { routed: undefined });
    assert.match(
      verdict(through(end(1, { entries: [], floods: true }), nobody)),
      /no flooded copy/,
    );
  });

  it('is dropped by a drop entry', () => {
    const entries = [{ mac: mac(2), interface: undefined, key: '' }];
    assert.match(verdict(through(end(1, { entries }), end(2))), /drops frames to/);
  });
});
