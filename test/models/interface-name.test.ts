import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';

test('a name of an interface has one spelling, which is that of its key', () => {
  for (const name of ['a/b', 'a//b', '/a/b', 'a/b/', '//a///b//']) {
    const value = vppInterfaceModel.canonical({ name, unnumbered: { interface_with_ip: name } });
    assert.equal(value.name, 'a/b');
    assert.equal(value.unnumbered?.interface_with_ip, 'a/b');
    assert.equal(vppInterfaceModel.key(value), 'config/vpp/v2/interfaces/a/b');
    const route = { dst_network: '10.0.0.0/8', outgoing_interface: name };
    assert.equal(vppRouteModel.canonical(route).outgoing_interface, 'a/b');
  }
  assert.equal(vppRouteModel.canonical({ outgoing_interface: '/' }).outgoing_interface, '/');
});
