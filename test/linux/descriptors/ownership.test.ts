/** Unmanaged links and routes of the kernel stay untouched, also when the environment changes. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type {
  AnyDescriptor,
  KeyedValue,
  OperationContext,
  RetrieveContext,
} from '#kvscheduler/api/descriptor.ts';
import { NamespaceNotFoundError } from '#linux/api.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { hostPort } from '#linux/host-port.ts';
import type { MessageModel } from '#models/define.ts';
import { linuxArpModel } from '#models/linux/arp.ts';
import { type LinuxInterface, linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { Driver, readBack } from '#test/descriptors/compliance/driver.ts';
import { VppTapStub } from '#test/descriptors/compliance/vpp-tap-stub.ts';

const alone: OperationContext = {
  metadata: () => assert.fail('no metadata is needed'),
  metBy: () => assert.fail('no dependency is needed'),
};

const POD_PATH = '/run/netns/pod1';
const pod = { type: 'NSID' as const, reference: 'pod1' };

function keyed<T extends object>(model: MessageModel<T>, input: DeepInput<T>): KeyedValue {
  const value = model.canonical(input);
  return { key: model.key(value), value };
}

const inside = keyed(linuxInterfaceModel, {
  name: 'veth1',
  type: 'VETH',
  namespace: pod,
  host_if_name: 'eth0',
  enabled: true,
  phys_address: '02:fe:00:00:00:01',
  ip_addresses: ['10.1.1.2/32'],
  veth: { peer_if_name: 'veth2' },
});
const outside = keyed(linuxInterfaceModel, {
  name: 'veth2',
  type: 'VETH',
  enabled: true,
  veth: { peer_if_name: 'veth1' },
});
const route = keyed(linuxRouteModel, {
  outgoing_interface: 'veth1',
  scope: 'LINK',
  dst_network: '10.1.1.1/32',
});
const neighbor = keyed(linuxArpModel, {
  interface: 'veth1',
  ip_address: '10.1.1.1',
  hw_address: '02:fe:00:00:00:02',
});
const all = [inside, outside, route, neighbor];

describe('descriptors of Linux', () => {
  let host: SimLinux;
  let taps: VppTapStub;

  const descriptors = (label = 'node1'): AnyDescriptor[] => [
    ...linuxDescriptors({ host, label, log: silentLogger }),
    taps.descriptor(),
  ];
  const driven = async (...values: readonly KeyedValue[]): Promise<Driver> => {
    const driver = new Driver(descriptors());
    for (const { key, value } of values) await driver.put(key, value);
    return driver;
  };
  const linksIn = async (namespace?: string): Promise<string[]> => {
    const { links } = await host.dump(namespace);
    return links.map(({ name }) => name);
  };

  beforeEach(() => {
    host = new SimLinux(seededRandom(1));
    host.addNamespace(POD_PATH);
    taps = new VppTapStub(
      host,
      [undefined, POD_PATH],
      async (name, namespace) => void host.openTap(name, namespace),
    );
  });

  test('an unmanaged link with the desired name keeps its settings', async () => {
    await host.createVeth(
      { namespace: POD_PATH, name: 'eth0' },
      { namespace: undefined, name: 'other' },
    );
    const before = await host.dump(POD_PATH);
    await assert.rejects(driven(inside), { errno: 'EEXIST' });
    assert.deepEqual(await host.dump(POD_PATH), before);
    assert.deepEqual(await linksIn(), ['lo', 'other']);
  });

  for (const host_namespace of ['', POD_PATH])
    test(`a TAP that finds its place taken leaves both links as they were, made in '${host_namespace}'`, async () => {
      await host.createVeth(
        { namespace: POD_PATH, name: 'eth0' },
        { namespace: undefined, name: 'other' },
      );
      const vppTap = keyed(vppInterfaceModel, {
        name: 'vpp-tap',
        type: 'TAP',
        tap: { host_if_name: 'tap-1', host_namespace },
      });
      const driver = await driven(vppTap);
      const states = [await host.dump(undefined), await host.dump(POD_PATH)];
      const linuxTap = keyed(linuxInterfaceModel, {
        name: 'linux-tap',
        type: 'TAP_TO_VPP',
        namespace: pod,
        host_if_name: 'eth0',
        phys_address: '02:fe:00:00:00:09',
        tap: { vpp_tap_if_name: 'vpp-tap' },
      });
      await assert.rejects(driver.put(linuxTap.key, linuxTap.value), { errno: 'EEXIST' });
      const after = [await host.dump(undefined), await host.dump(POD_PATH)];
      for (const [position, { links }] of after.entries()) {
        assert.deepEqual(
          links.map(({ name, mac, alias }) => [name, mac, alias || undefined]),
          states[position]?.links.map(({ name, mac, alias }) => [name, mac, alias || undefined]),
        );
      }
    });

  test('a TAP whose first name the pod has given to another link ends where it is', async () => {
    const vppTap = keyed(vppInterfaceModel, {
      name: 'vpp-tap',
      type: 'TAP',
      tap: { host_if_name: 'tap-1', host_namespace: POD_PATH },
    });
    const linuxTap = keyed(linuxInterfaceModel, {
      name: 'linux-tap',
      type: 'TAP_TO_VPP',
      namespace: pod,
      host_if_name: 'eth0',
      enabled: true,
      tap: { vpp_tap_if_name: 'vpp-tap' },
    });
    const driver = await driven(vppTap, linuxTap);
    await host.createVeth(
      { namespace: POD_PATH, name: 'tap-1' },
      { namespace: POD_PATH, name: 'other' },
    );
    await driver.delete(linuxTap.key);
    const { links } = await host.dump(POD_PATH);
    const eth0 = links.find(({ name }) => name === 'eth0');
    assert.deepEqual([eth0?.kind, eth0?.up, eth0?.alias || undefined], ['tun', false, undefined]);
  });

  test('links of another agent, and unmarked links, are not reported as managed', async () => {
    await driven(...all);
    host.addNic('nic0');
    await host.createVeth({ namespace: undefined, name: 'a' }, { namespace: undefined, name: 'b' });
    const { values: found } = await readBack(descriptors('node2'), []);
    const ours = [...found.values()].filter(({ origin }) => origin === 'from-NB');
    assert.deepEqual(ours, []);
    // reported as existing, for values that depend on a link
    assert.ok(found.has('linux/interface/host-name/nic0'));
  });

  test('unmanaged routes, addresses and neighbors on managed links are left alone', async () => {
    const driver = await driven(...all);
    await host.addAddress(POD_PATH, 'eth0', '10.9.9.9/24');
    host.linkHandle('eth0', POD_PATH)?.setUp(true);
    const { values: found } = await readBack(descriptors(), driver.desired);
    // the kernel's own route to 10.9.9.0/24 is unmanaged, the address is on a managed link
    assert.equal(found.get('config/linux/l3/v2/route/10.9.9.0/24/veth1'), undefined);
    const value = found.get(inside.key)?.value as LinuxInterface;
    assert.deepEqual([...value.ip_addresses].sort(), ['10.1.1.2/32', '10.9.9.9/24']);
  });

  test('a route of the kernel, by an address of any link, is not replaced', async () => {
    const driver = await driven(...all);
    await host.createVeth(
      { namespace: POD_PATH, name: 'eth1' },
      { namespace: undefined, name: 'other' },
    );
    await host.setLink(undefined, 'other', { up: true });
    await host.setLink(POD_PATH, 'eth1', { up: true });
    await host.addAddress(POD_PATH, 'eth0', '10.8.8.8/24');
    await host.addAddress(POD_PATH, 'eth1', '10.9.9.9/24');
    const before = await host.dump(POD_PATH);
    for (const dst_network of ['10.8.8.0/24', '10.9.9.0/24']) {
      const fields = { outgoing_interface: 'veth1', scope: 'LINK', dst_network } as const;
      const { key, value } = keyed(linuxRouteModel, fields);
      await assert.rejects(driver.put(key, value), {
        errno: 'EEXIST',
        message: /the kernel has its own route to this destination with the same metric/,
      });
      await driver.delete(key);
      assert.deepEqual(await host.dump(POD_PATH), before);
    }
  });

  test('a deleted namespace is empty, and its values can be neither created nor retried', async () => {
    const driver = await driven(...all);
    host.removeNamespace(POD_PATH);
    const { values: found } = await readBack(descriptors(), driver.desired);
    assert.deepEqual(
      [...found.values()].filter(({ origin }) => origin === 'from-NB'),
      [],
    );

    for (const { key } of [...all].reverse()) await driver.delete(key);
    assert.deepEqual(await linksIn(), ['lo']);

    const failure = await driver.put(inside.key, inside.value).catch((thrown: Error) => thrown);
    assert.ok(failure instanceof NamespaceNotFoundError);
    assert.equal(failure.isRetriable, false);
    assert.deepEqual(await linksIn(), ['lo']);
  });

  test('a pair that was deleted with its namespace is recreated with the namespace', async () => {
    const first = await driven(...all);
    host.removeNamespace(POD_PATH);
    host.addNamespace(POD_PATH);
    const next = new Driver(descriptors());
    await next.resync(all);
    assert.deepEqual(next.pending, []);
    const { values } = await readBack(descriptors(), next.desired);
    assert.deepEqual(values.get(outside.key)?.value, outside.value);
    assert.ok(first.desired.length > 0);
  });

  test('a different namespace under the same path is not mistaken for the old one', async () => {
    await driven(inside, outside);
    host.removeNamespace(POD_PATH);
    host.addNamespace(POD_PATH);
    await host.createVeth(
      { namespace: POD_PATH, name: 'eth0' },
      { namespace: undefined, name: 'other' },
    );
    const { values } = await readBack(descriptors(), [inside, outside]);
    assert.equal(values.get(inside.key), undefined);
  });

  test('both ends of a pair may be made and removed at the same time', async () => {
    const [descriptor] = descriptors();
    assert.ok(descriptor?.create && descriptor.delete);
    const ends = [inside, outside] as const;
    const made = await Promise.all(
      ends.map(({ key, value }) => descriptor.create?.(key, value, alone)),
    );
    assert.deepEqual(await linksIn(), ['lo', 'veth2']);
    assert.deepEqual(await linksIn(POD_PATH), ['lo', 'eth0']);
    const { links } = await host.dump(undefined);
    assert.equal(links.find(({ name }) => name === 'veth2')?.running, true, 'one pair, not two');
    await Promise.all(
      ends.map(({ key, value }, position) =>
        descriptor.delete?.(key, value, made[position], alone),
      ),
    );
    assert.deepEqual([...(await linksIn()), ...(await linksIn(POD_PATH))], ['lo', 'lo']);
  });

  test('retrieving one value keeps the other end of its pair', async () => {
    const [descriptor] = descriptors();
    assert.ok(descriptor?.create && descriptor.delete && descriptor.retrieve);
    await descriptor.create(inside.key, inside.value, alone);
    const metadata = await descriptor.create(outside.key, outside.value, alone);
    const context: RetrieveContext = {
      retrieved: () => new Map(),
      isKnown: () => false,
      known: () => undefined,
      only: new Set([outside.key]),
      leftover: () => undefined,
      readBack: {},
    };
    await descriptor.retrieve([outside], context);
    await descriptor.delete(outside.key, outside.value, metadata, alone);
    assert.deepEqual(await linksIn(POD_PATH), ['lo', 'eth0'], 'the other end is still wanted');
  });

  test('one dump of a namespace serves all descriptors of a resync', async () => {
    const driver = await driven(...all);
    host.operations.length = 0;
    await readBack(descriptors(), driver.desired);
    const looks = host.operations.filter(({ name }) => name === 'dump');
    assert.deepEqual(looks.map(({ namespace }) => namespace).sort(), [POD_PATH, undefined]);
  });

  test('a dump is not reused after a change', async () => {
    const same = descriptors();
    const driver = new Driver(same);
    for (const { key, value } of all) await driver.put(key, value);
    await readBack(same, driver.desired);
    await driver.delete(route.key);
    const { values } = await readBack(same, driver.desired);
    assert.equal(values.get(route.key), undefined);
    await host.addRoute(POD_PATH, {
      destination: '10.1.1.1/32',
      device: 'eth0',
      scope: 'link',
      metric: 0,
    });
    const desired = await readBack(same, [...driver.desired, route]);
    assert.deepEqual(desired.values.get(route.key)?.value, route.value);
  });

  test('a link that others made gives no more than what was asked of it', async () => {
    host.addNic('nic0');
    await host.addAddress(undefined, 'nic0', '172.30.1.2/24');
    const nic = keyed(linuxInterfaceModel, {
      name: 'mgmt',
      type: 'EXISTING',
      host_if_name: 'nic0',
      enabled: true,
      ip_addresses: ['192.168.1.1/24'],
    });
    const { values } = await readBack(descriptors(), [nic]);
    const value = values.get(nic.key)?.value as LinuxInterface;
    assert.deepEqual(value.ip_addresses, []);
    assert.equal(value.enabled, false);
  });

  test('loopback addresses of the kernel are not taken away', async () => {
    const lo = keyed(linuxInterfaceModel, {
      name: 'lo-1',
      type: 'LOOPBACK',
      namespace: pod,
      enabled: true,
      ip_addresses: ['127.0.0.1/8', '10.5.5.5/32'],
    });
    const driver = await driven(lo);
    await driver.delete(lo.key);
    const { links } = await host.dump(POD_PATH);
    assert.ok(links[0]?.addresses.includes('127.0.0.1/8'));
    assert.ok(!links[0]?.addresses.includes('10.5.5.5/32'));
  });

  test('namespaces are found by name, process and path', async () => {
    const [descriptor] = descriptors();
    host.addNamespace('/proc/77/ns/net');
    host.addNamespace('/var/run/netns/x');
    const places = [
      [{ type: 'NSID', reference: 'pod1' }, POD_PATH],
      [{ type: 'PID', reference: '77' }, '/proc/77/ns/net'],
      [{ type: 'FD', reference: '/var/run/netns/x' }, '/var/run/netns/x'],
      [{ type: 'UNDEFINED' }, undefined],
    ] as const;
    for (const [namespace, path] of places) {
      const { key, value } = keyed(linuxInterfaceModel, {
        name: 'lo-1',
        type: 'LOOPBACK',
        namespace,
      });
      const metadata = (await descriptor?.create?.(key, value, alone)) as LinuxInterfaceMetadata;
      assert.equal(metadata.namespace, path);
    }
  });

  test('invalid values are rejected with the name of the field', async () => {
    const driver = new Driver(descriptors());
    const base = { name: 'a', type: 'VETH', veth: { peer_if_name: 'b' } } as const;
    const cases: readonly (readonly [DeepInput<LinuxInterface>, string])[] = [
      [{ ...base, name: '' }, 'name'],
      [{ ...base, name: 'a/b' }, 'name'],
      [{ ...base, name: 'a'.repeat(16) }, 'host_if_name'],
      [{ ...base, host_if_name: 'a b' }, 'host_if_name'],
      [{ ...base, veth: { peer_if_name: 'a' } }, 'veth.peer_if_name'],
      [{ ...base, veth: {} }, 'veth.peer_if_name'],
      [{ ...base, namespace: { type: 'FD', reference: 'relative' } }, 'namespace.reference'],
      [{ ...base, namespace: { type: 'PID', reference: 'x' } }, 'namespace.reference'],
      [{ ...base, namespace: { type: 'NSID', reference: '../x' } }, 'namespace.reference'],
      [{ ...base, namespace: { type: 'MICROSERVICE', reference: 'x' } }, 'namespace'],
      [{ ...base, type: 'DUMMY', veth: undefined }, 'type'],
      [{ ...base, type: 'TAP_TO_VPP' }, 'veth'],
      [{ ...base, ip_addresses: ['alloc:net/a'] }, 'ip_addresses'],
      [{ name: 'a', type: 'TAP_TO_VPP' }, 'tap.vpp_tap_if_name'],
    ];
    for (const [input, field] of cases) {
      const { key, value } = keyed(linuxInterfaceModel, input);
      await assert.rejects(driver.put(key, value), { fields: [field] }, JSON.stringify(input));
    }
  });

  test('the host port returns all links except managed ones', async () => {
    host.addNic('nic0');
    await host.addAddress(undefined, 'nic0', '172.30.1.2/24');
    const here = { namespace: undefined, name: 'ours0' };
    await host.createVeth(here, { namespace: undefined, name: 'ours1' });
    await host.setLink(undefined, 'ours0', { alias: '/vnf-agent/node1/ours0/ours1' });
    const view = hostPort(host, () => true);
    const links = await view.links();
    const nic = links.find(({ name }) => name === 'nic0');
    assert.deepEqual(nic, { name: 'nic0', mtu: 1500, addresses: ['172.30.1.2/24'] });
    assert.equal(
      links.some(({ name }) => name === 'ours0'),
      false,
    );
    assert.equal(
      links.some(({ name }) => name === 'ours1'),
      true,
    );
    assert.equal(await view.hasIpv6(), true);
    assert.equal(await view.bootId(), await host.bootId());
    assert.equal(await view.namespaceIdentity('/nothing'), undefined);
  });
});
