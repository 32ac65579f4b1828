/** Values that the descriptors of Linux reject, and why. */
import { describe, test } from 'node:test';
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import { assertAccepted, assertRejected } from '#test/descriptors/validation.ts';

describe('values of Linux', () => {
  test('an interface needs a name, a type and a location that the kernel accepts', () => {
    const veth = { name: 'a', type: 'VETH', veth: { peer_if_name: 'b' } } as const;
    const tap = { name: 'a', type: 'TAP_TO_VPP', tap: { vpp_tap_if_name: 't' } } as const;
    assertRejected('linux-interface', linuxInterfaceModel, [
      [{ ...veth, name: '' }, 'name'],
      [{ ...veth, name: 'a/b' }, 'name'],
      [{ ...veth, name: 'a'.repeat(250), host_if_name: 'eth0' }, 'name'],
      [{ ...veth, host_if_name: 'sixteen-letters-' }, 'host_if_name'],
      [{ ...veth, host_if_name: 'a b' }, 'host_if_name'],
      [{ ...veth, host_if_name: '..' }, 'host_if_name'],
      [{ name: 'a', type: 'UNDEFINED' }, 'type'],
      [{ name: 'a', type: 'TAP_TO_VPP', veth: veth.veth }, 'veth'],
      [{ name: 'a', type: 'VETH', tap: tap.tap }, 'tap'],
      [{ ...veth, veth: { peer_if_name: '' } }, 'veth.peer_if_name'],
      [{ ...veth, veth: { peer_if_name: 'a' } }, 'veth.peer_if_name'],
      [{ ...veth, veth: { peer_if_name: 'b/c' } }, 'veth.peer_if_name'],
      [{ ...tap, tap: { vpp_tap_if_name: '' } }, 'tap.vpp_tap_if_name'],
      [{ ...tap, tap: { vpp_tap_if_name: 'a/b' } }, 'tap.vpp_tap_if_name'],
      [{ ...veth, vrf_master_interface: 'vrf' }, 'vrf_master_interface'],
      [{ ...veth, namespace: { type: 'MICROSERVICE', reference: 'a' } }, 'namespace'],
      [{ ...veth, namespace: { type: 'NSID' } }, 'namespace.reference'],
      [{ ...veth, namespace: { type: 'NSID', reference: 'a/b' } }, 'namespace.reference'],
      [{ ...veth, namespace: { type: 'PID', reference: 'self' } }, 'namespace.reference'],
      [{ ...veth, namespace: { type: 'FD', reference: 'run/netns/a' } }, 'namespace.reference'],
      [{ ...veth, ip_addresses: ['alloc:net1'] }, 'ip_addresses'],
    ]);
    assertAccepted('linux-interface', linuxInterfaceModel, [
      veth,
      tap,
      { name: 'a', type: 'LOOPBACK' },
      { name: 'a', type: 'EXISTING', namespace: { type: 'PID', reference: '1' } },
    ]);
  });

  test('a route needs an interface and a destination of the family of its gateway', () => {
    const route = { outgoing_interface: 'a', scope: 'GLOBAL', dst_network: '10.1.0.0/16' } as const;
    assertRejected('linux-route', linuxRouteModel, [
      [{ ...route, outgoing_interface: '' }, 'outgoing_interface'],
      [{ ...route, dst_network: '' }, 'dst_network'],
      [{ ...route, dst_network: 'alloc:net1' }, 'dst_network'],
      [{ ...route, gw_addr: 'alloc:net1' }, 'gw_addr'],
      [{ ...route, gw_addr: 'fd00::1' }, 'gw_addr'],
    ]);
    assertAccepted('linux-route', linuxRouteModel, [route, { ...route, gw_addr: '10.1.0.1' }]);
  });

  test('a neighbor needs an interface and both addresses', () => {
    const entry = { interface: 'a', ip_address: '10.1.1.1', hw_address: '02:fe:00:00:00:01' };
    assertRejected('linux-arp', linuxArpModel, [
      [{ ...entry, interface: '' }, 'interface'],
      [{ ...entry, ip_address: '' }, 'ip_address'],
      [{ ...entry, hw_address: '' }, 'hw_address'],
    ]);
    assertAccepted('linux-arp', linuxArpModel, [entry]);
  });
});
