/** Wrong marks that could not be corrected before their pod has ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionMode } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { keyedValue } from '#test/descriptors/compliance/example-values.ts';
import { FaultyHost } from '#test/descriptors/compliance/faulty-host.ts';
import { entries } from '#test/descriptors/compliance/shared-vpp-agent.ts';

const POD = '/run/netns/pod1';
const inside = keyedValue(linuxInterfaceModel, {
  name: 'veth1',
  type: 'VETH',
  namespace: { type: 'NSID', reference: 'pod1' },
  host_if_name: 'eth0',
  enabled: true,
  ip_addresses: ['10.1.1.2/32'],
  veth: { peer_if_name: 'veth2' },
});
const outside = keyedValue(linuxInterfaceModel, {
  name: 'veth2',
  type: 'VETH',
  enabled: true,
  veth: { peer_if_name: 'veth1' },
});
const route = keyedValue(linuxRouteModel, {
  outgoing_interface: 'veth1',
  scope: 'LINK',
  dst_network: '10.1.1.1/32',
});
const pod = [inside, outside, route];

for (const wrong of ['no mark', 'the mark of another agent', 'a route of another program'] as const)
  test(`a pod with ${wrong} that has ended can be deleted`, async (context) => {
    const linux = new SimLinux(seededRandom(1));
    linux.addNamespace('/run/netns/agent');
    linux.addNamespace(POD);
    const faulty = new FaultyHost(linux, '/run/netns/agent');
    const scheduler = createScheduler({
      descriptors: linuxDescriptors({ host: faulty.host, label: 'node1', log: silentLogger }),
      clock: new ManualClock(),
      log: silentLogger,
    });
    context.after(() => scheduler.close());
    const commit = async (
      mode: TransactionMode,
      values: readonly (readonly [string, object | null])[],
    ) => {
      const request = { description: mode, mode, values: new Map(values) };
      const { failures } = await scheduler.commit({ ...request, onFailure: 'best-effort' });
      return failures.map(({ key, error }) => `${key}: ${error.message}`);
    };
    assert.deepEqual(await commit('full-resync', entries(pod)), []);
    if (wrong === 'a route of another program') {
      const { routes } = await linux.dump(POD);
      const own = routes.find(({ destination }) => destination === '10.1.1.1/32');
      assert.ok(own);
      linux.setRouteProtocol(POD, own, 4);
    } else {
      const alias = wrong === 'no mark' ? '' : '/vnf-agent/node0/veth1/veth2';
      await linux.setLink(POD, 'eth0', { alias });
    }
    faulty.refuse(1);
    const [failure, ...more] = await commit('downstream-resync', []);
    assert.match(failure ?? '', /^leftover\/.*refused by the test/);
    assert.deepEqual(more, []);
    linux.removeNamespace(POD);
    assert.deepEqual(
      await commit(
        'update',
        pod.map(({ key }) => [key, null]),
      ),
      [],
    );
    assert.deepEqual([...scheduler.failedValues()], []);
  });
