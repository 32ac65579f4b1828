/** Addresses of services in the routing tables of a real VPP. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answered } from '#test/services/compliance/answers.ts';
import { a, b, serviceRecords } from '#test/services/compliance/records.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { bytesOfAddress, textOfBytes } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const MAPPINGS = 2000;
const POD_VRF = 1;

function addressOfMapping(n: number): string {
  return `10.97.${n >> 8}.${n & 255}`;
}

async function addMappings(client: VppClient): Promise<void> {
  const local = (address: string, port: number, probability: number) => ({
    addr: bytesOfAddress(address),
    port,
    probability,
    vrf_id: POD_VRF,
  });
  const added = Array.from({ length: MAPPINGS }, (_, n) =>
    client.request('nat44_add_del_lb_static_mapping', {
      is_add: true,
      flags: 4,
      external_addr: bytesOfAddress(addressOfMapping(n)),
      external_port: 80,
      protocol: 6,
      affinity: 0,
      tag: '',
      locals: [local('0.0.0.0', 1, 0), local('10.1.1.9', 8080, 2)],
    }),
  );
  await Promise.all(added);
}

/** Addresses with a route of their own, in the table of the pods. */
async function routesOfPods(client: VppClient): Promise<readonly string[]> {
  const table = { table_id: POD_VRF, is_ip6: false, name: '' };
  const routes = await client.dump('ip_route_v2_dump', { src: 0, table });
  return routes
    .map(({ route }) => route.prefix)
    .filter(({ len }) => len === 32)
    .map(({ address }) => textOfBytes(address.un.subarray(0, 4)));
}

describe('addresses of services', { skip: withoutNodes() || withoutVhostNet() }, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    cluster = await RealServiceCluster.start();
    for (const pod of ['a', 'b']) await cluster.startPod(pod, 'node1', [8080]);
    await cluster.serve('outside', 8080);
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  it('get no routes when a pod is attached', async () => {
    await cluster.vppOf('node1').withClient(async (client) => {
      await addMappings(client);
      const before = await routesOfPods(client);
      await cluster.startPod('late', 'node1', [8080]);
      const added = (await routesOfPods(client)).filter((address) => !before.includes(address));
      assert.deepEqual(added, [cluster.addressOf({ pod: 'late' })]);
    });
  });

  it('stay reachable, and connections open, when an agent comes that knows no outside interfaces', async () => {
    const address = '10.96.5.2';
    const ports = [{ port: 80, target: 8080 }];
    await cluster.apply(
      serviceRecords(cluster, 'kept', { cluster_ip: address, ports, backends: [b] }),
    );
    const connections = await cluster.open(a, { address, port: 80, protocol: 'TCP' }, 10);
    answered(connections.answers, address);
    const interfaces = () =>
      cluster.vppOf('node1').withClient((client) => client.dump('nat44_interface_dump', {}));
    await cluster.restartAgent('node1', 'SIGTERM', () =>
      cluster.vppOf('node1').withClient(async (client) => {
        for (const { sw_if_index, flags } of await interfaces()) {
          assert.equal(flags, NatConfigFlags.NAT_IS_INSIDE);
          const node = { arc_name: 'ip4-unicast', feature_name: 'nat44-ed-classify' };
          await client.request('feature_enable_disable', { ...node, sw_if_index, enable: false });
          await client.request('nat44_interface_add_del_feature', {
            sw_if_index,
            flags: NatConfigFlags.NAT_IS_OUTSIDE,
            is_add: true,
          });
        }
      }),
    );
    for (const { flags } of await interfaces()) assert.equal(flags, NatConfigFlags.NAT_IS_INSIDE);
    assert.deepEqual(await connections.broken(), []);
    await connections.close();
    const answers = await cluster.connect(a, { address, port: 80, protocol: 'TCP' }, 5);
    answered(answers, address);
  });

  it('reach another machine again, when no service has them any more', async () => {
    const address = '203.0.113.99';
    await cluster.addOutsideAddress(address);
    const connect = async (): Promise<string> => {
      const answers = await cluster.connect(a, { address, port: 8080, protocol: 'TCP' });
      return answered(answers, address)[0]!.backend;
    };
    assert.equal(await connect(), 'outside');
    const external = serviceRecords(cluster, 'external', {
      cluster_ip: '10.96.5.1',
      external_ips: [address],
      ports: [{ port: 8080 }],
      backends: [b],
    });
    await cluster.apply(external);
    assert.equal(await connect(), 'b');
    await cluster.startPod('later', 'node1', [8080]);
    assert.equal(await connect(), 'b');
    await cluster.apply({ name: 'external' });
    assert.equal(await connect(), 'outside');
  });
});
