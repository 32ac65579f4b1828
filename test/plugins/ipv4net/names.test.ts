import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fnv1a32 } from '#models/fnv.ts';
import {
  boundLink,
  bviMac,
  hostLinkMac,
  hostSideMac,
  nicMac,
  podLinkNames,
  podMacs,
  routeMetric,
} from '#plugins/ipv4net/names.ts';

const CONTAINER_ID = '740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a52eff63930ccb6e';

describe('names of links', () => {
  it('are those of the original, cut to what VPP and the kernel take', () => {
    assert.deepEqual(podLinkNames({ containerId: CONTAINER_ID, interfaceName: 'eth0' }, true), {
      vpp: 'vpp-tap-740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a52eff6',
      linux: 'linux-tap-740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a52ef',
      loopback: 'linux-loop-740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a52e',
      linuxHost: 'eth0',
      peer: 'veth2-740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a52eff639',
      peerHost: '740ee06ac2bc084',
    });
    const veth = podLinkNames({ containerId: CONTAINER_ID, interfaceName: 'eth0' }, false);
    assert.equal(veth.vpp, 'afpacketveth2-740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a');
    assert.equal(veth.linux, 'veth1-740ee06ac2bc0843291614f4d8348e2a61d78b1ee1681b07a52eff639');
  });

  it('tell further interfaces of a container apart', () => {
    const names = podLinkNames({ containerId: 'c1', interfaceName: 'net1' }, true);
    assert.equal(names.vpp, 'vpp-tap-net1-c1');
    assert.equal(names.linuxHost, 'net1');
    assert.equal(names.peerHost, 'net1-c1');
    assert.equal(names.loopback, 'linux-loop-c1');
  });

  it('never get too long', () => {
    const text = fc.string({ minLength: 1, maxLength: 90, unit: 'grapheme-ascii' });
    fc.assert(
      fc.property(text, text, fc.boolean(), (id, interfaceName, useTap) => {
        const names = podLinkNames({ containerId: id, interfaceName }, useTap);
        for (const name of [names.vpp, names.linux, names.loopback, names.peer])
          assert.ok(name.length <= 63);
        for (const name of [names.linuxHost, names.peerHost]) assert.ok(name.length <= 15);
      }),
    );
  });
});

describe('metrics of routes', () => {
  it('prefer the main interface, and differ for all others', () => {
    assert.equal(routeMetric('eth0'), 0);
    const others = Array.from({ length: 100 }, (_, n) => routeMetric(`net${n}`));
    assert.equal(new Set(others).size, 100);
    // the kernel turns 0 into 1024 for routes of IPv6
    for (const metric of others) assert.ok(metric > 1024);
  });
});

describe('MAC addresses', () => {
  it('carry the node ID', () => {
    assert.equal(hostLinkMac(1), '34:3c:00:00:00:01');
    assert.equal(hostSideMac(1), '36:3c:00:00:00:01');
    assert.equal(bviMac(0x01020304), '12:2b:01:02:03:04');
  });

  it('hash the container by FNV-1a', () => {
    assert.equal(fnv1a32(''), 0x811c9dc5);
    assert.equal(fnv1a32('a'), 0xe40c292c);
    assert.equal(fnv1a32('foobar'), 0xbf9cf968);
  });

  it('of pods are the hash in little-endian order, and its complement', () => {
    assert.deepEqual(podMacs({ containerId: 'c1', interfaceName: 'eth0' }), {
      linux: '02:fe:42:90:eb:4f',
      vpp: '02:fe:bd:6f:14:b0',
    });
    assert.deepEqual(podMacs({ containerId: 'c1', interfaceName: 'net1' }), {
      linux: '02:fe:5c:89:19:5b',
      vpp: '02:fe:a3:76:e6:a4',
    });
  });
});

describe('interfaces that are bound to a link of the kernel', () => {
  it('are those that VPP itself would call so', () => {
    assert.equal(boundLink('host-eth1'), 'eth1');
    assert.equal(boundLink('GigabitEthernet0/8/0'), undefined);
    assert.equal(boundLink('ghost-eth1'), undefined);
  });

  it('have a MAC of their own, local and unicast, that stays', () => {
    fc.assert(
      fc.property(fc.nat(), fc.string(), (nodeId, name) => {
        const first = Number.parseInt(nicMac(nodeId, name).slice(0, 2), 16);
        assert.equal(first & 0b11, 0b10);
        assert.equal(nicMac(nodeId, name), nicMac(nodeId, name));
      }),
    );
    assert.notEqual(nicMac(1, 'host-eth1'), nicMac(2, 'host-eth1'));
    assert.notEqual(nicMac(1, 'host-eth1'), nicMac(1, 'host-eth2'));
  });
});
