/** Services of pods with addresses of both families: each of them as in a cluster of that family alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { SocketService } from '#models/linux/socket-service.ts';
import { type CnatTranslation, cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { FakeHost } from '../fake-ports.ts';
import { fakeVppWithNics } from '../ipv4net/vpp-with.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { nodeValue, type TestNode, vppNodeValue } from '../test-node.ts';
import { type AddressPlan, ipv4First, ipv6First } from './address-plan.ts';
import { endpointsValue, serviceValue, type TestEndpoint } from './service-values.ts';

const KEY = 'config/linux/socket/v2/service/default/web';
const CNAT = cnatTranslationModel.keyPrefix;
const DNAT = 'config/vpp/nat/v2/dnat44/default/web';
const four: TestEndpoint = { ip: '10.1.1.2', node: 'node-a', pod: 'local' };
const six: TestEndpoint = { ip: 'fd01:0:0:1::2', node: 'node-a', pod: 'local' };
const remote: TestEndpoint = { ip: 'fd01:0:0:2::2', node: 'node-b', pod: 'remote' };
const CLUSTER_IP = '10.96.0.9';
const bothIps = [CLUSTER_IP, 'fd05::9'];

async function dualNode(plan: AddressPlan, hasSockets = true, hasCnat = true): Promise<TestNode> {
  const host = new FakeHost();
  host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses: ['172.16.0.1/24', 'fd09::1/64'] }];
  host.ipv6 = true;
  host.socketServices = hasSockets;
  const service = { socketServices: '/sys/fs' };
  const vpp = fakeVppWithNics('Gig1', 'Gig2');
  vpp.cnat = hasCnat;
  return await startedNode({ host, vpp, service, yaml: plan.yaml }, [
    nodeValue('node-a', '172.16.0.1', 'fd09::1'),
    vppNodeValue(2, 'node-b', '192.168.16.2/24', 'fd03::2/64'),
    nodeValue('node-b', '172.16.0.2', 'fd09::2'),
  ]);
}

/** By `THIS_NODE :: 30080`, `ADDRESS fd05::9 80`. */
function socketsOf(node: TestNode): Record<string, string[]> {
  const all = node
    .at<SocketService>(KEY)
    .mappings.flatMap(({ frontends, backends }) =>
      frontends.map(({ scope, address, port }) => [
        `${scope} ${address} ${port}`,
        backends.map((to) => to.address),
      ]),
    );
  return Object.fromEntries(all);
}

/** Backends of the translations, by `fd03::1 30080`. */
function cnatOf(node: TestNode): Record<string, string[]> {
  const keys = [...node.config.keys()].filter((key) => key.startsWith(CNAT));
  const found = keys.map((key) => node.at<CnatTranslation>(key));
  return Object.fromEntries(
    found.map((one) => [
      `${one.external_ip} ${one.external_port}`,
      one.backends.map(({ ip_address }) => ip_address).sort(),
    ]),
  );
}

function natOf(node: TestNode): string[] {
  const { st_mappings } = node.at<{ st_mappings: { external_ip: string }[] }>(DNAT);
  return st_mappings.map(({ external_ip }) => external_ip).sort();
}

for (const [title, plan] of Object.entries({ 'IPv4 first': ipv4First, 'IPv6 first': ipv6First }))
  describe(`services of a dual-stack cluster with ${title}`, () => {
    it('have addresses of both families at sockets, and those of IPv4 in NAT44', async () => {
      const node = await dualNode(plan);
      await node.put(
        serviceValue('web', CLUSTER_IP, {
          service_type: 'LoadBalancer',
          cluster_ips: bothIps,
          lb_ingress_ips: ['203.0.113.1', '2001:db8::1'],
          port: [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }],
        }),
      );
      await node.put(endpointsValue('web', [four, six, remote]));
      const [ipv4, ipv6] = [[four.ip], [six.ip, remote.ip]];
      assert.deepEqual(socketsOf(node), {
        'ADDRESS 10.96.0.9 80': ipv4,
        'ADDRESS 203.0.113.1 80': ipv4,
        'THIS_NODE 0.0.0.0 30080': ipv4,
        'OTHER_NODES 0.0.0.0 30080': ipv4,
        'ADDRESS fd05::9 80': ipv6,
        'ADDRESS 2001:db8::1 80': ipv6,
        'THIS_NODE :: 30080': ipv6,
        'OTHER_NODES :: 30080': ipv6,
      });
      assert.deepEqual(natOf(node), ['10.96.0.9', '172.16.0.1', '192.168.16.1', '203.0.113.1']);
      assert.deepEqual(cnatOf(node), {
        '2001:db8::1 80': [six.ip, remote.ip],
        'fd03::1 30080': [six.ip, remote.ip],
      });
      assert.equal(node.services.serviceProblems().size, 0);
    });

    it('with addresses of one family have nothing in the other one', async () => {
      const node = await dualNode(plan);
      const port = [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }];
      const external_ips = ['198.51.100.7', '2001:db8::7'];
      await node.put(serviceValue('web', 'fd05::9', { service_type: 'NodePort', port }));
      await node.put(endpointsValue('web', [four, six]));
      assert.deepEqual(Object.keys(socketsOf(node)).sort(), [
        'ADDRESS fd05::9 80',
        'OTHER_NODES :: 30080',
        'THIS_NODE :: 30080',
      ]);
      assert.equal(node.config.has(DNAT), false);
      await node.put(serviceValue('web', '10.96.0.9', { external_ips, port }));
      assert.deepEqual(natOf(node), ['10.96.0.9', '172.16.0.1', '192.168.16.1', '198.51.100.7']);
      const { addresses } = node.services.describeService('default/web')!;
      const [refused] = addresses.filter(({ whyNotRendered }) => whyNotRendered !== undefined);
      assert.equal(refused?.address, '2001:db8::7');
      assert.equal(refused.whyNotRendered, 'the service has no IPv6 cluster address');
    });

    it('with ranges of one family are closed to the other one', async () => {
      const node = await dualNode(plan);
      await node.put(
        serviceValue('web', CLUSTER_IP, {
          service_type: 'LoadBalancer',
          cluster_ips: bothIps,
          lb_ingress_ips: ['203.0.113.1', '2001:db8::1'],
          loadbalancer_source_ranges: ['0.0.0.0/0'],
        }),
      );
      await node.put(endpointsValue('web', [four, six]));
      const sockets = socketsOf(node);
      assert.deepEqual(sockets['ADDRESS 203.0.113.1 80'], [four.ip]);
      assert.deepEqual(sockets['ADDRESS 2001:db8::1 80'], []);
      assert.deepEqual(sockets['ADDRESS fd05::9 80'], [six.ip]);
    });

    it('count a pod once in the health check, and in a family that clients outside reach', async () => {
      const node = await dualNode(plan);
      const balanced = (cluster_ips: string[]) =>
        serviceValue('web', cluster_ips[0] ?? '', {
          service_type: 'LoadBalancer',
          cluster_ips,
          external_traffic_policy: 'Local',
          health_check_node_port: 31_000,
        });
      await node.put(endpointsValue('web', [four, six]));
      await node.put(balanced(bothIps));
      assert.deepEqual(
        [...node.services.healthChecks()],
        [['default/web', { port: 31_000, localEndpoints: 1 }]],
      );
      await node.put(balanced(['fd05::9']));
      assert.equal(node.services.healthChecks().size, 1);
      const old = await dualNode(plan, true, false);
      await old.put(endpointsValue('web', [four, six]));
      await old.put(balanced(['fd05::9']));
      assert.equal(old.services.healthChecks().size, 0);
    });

    it('and host ports of a pod are at the addresses of its families, with the source of each', async () => {
      const node = await dualNode(plan);
      const port = (host_port: number, host_ip_address = '') => ({
        container_port: 8080,
        host_port,
        host_ip_address,
      });
      const value = podModel.canonical({
        name: 'local',
        namespace: 'default',
        ip_address: four.ip,
        ip_addresses: [four.ip, six.ip],
        container: [{ name: 'main', port: [port(80), port(81, '0.0.0.0'), port(82, '::')] }],
      });
      await node.put({ resource: 'pod', key: resources.pod.key('local', 'default'), value });
      const { mappings } = node.at<SocketService>(`${KEY.slice(0, -'web'.length)}pod:local`);
      const found = mappings.map(({ frontends, backends, host_source }) => [
        backends.map(({ address }) => address).join(),
        host_source,
        frontends.map((one) => `${one.address} ${one.port}`).sort(),
      ]);
      const at = (address: string, ...ports: number[]) => ports.map((one) => `${address} ${one}`);
      assert.deepEqual(found.sort(), [
        [four.ip, '172.16.0.1', [...at('172.16.0.1', 80, 81), ...at('192.168.16.1', 80, 81)]],
        [six.ip, 'fd09::1', [...at('fd03::1', 80, 82), ...at('fd09::1', 80, 82)]],
      ]);
    });

    it('name pods whose packets are translated, because VPP has none of IPv6', async () => {
      const node = await dualNode(plan);
      const annotations = { 'contivpp.io/service-translation': 'packets' };
      const value = podModel.canonical({ name: 'web', namespace: 'default', annotations });
      await node.put({ resource: 'pod', key: resources.pod.key('web', 'default'), value });
      await node.add('web', 'c1');
      await node.add('other', 'c2');
      assert.deepEqual(node.services.podsWithoutServices(), ['default/web (IPv6)']);
    });

    it('without sockets are those of IPv4 alone, and each is named', async () => {
      const node = await dualNode(plan, false);
      await node.put(serviceValue('web', CLUSTER_IP, { cluster_ips: bothIps }));
      await node.put(serviceValue('four', '10.96.0.10'));
      await node.put(endpointsValue('web', [four, six]));
      assert.deepEqual(natOf(node), ['10.96.0.9']);
      assert.deepEqual([...node.services.serviceProblems().keys()], ['default/web']);
      assert.match(
        node.services.serviceProblems().get('default/web')?.join() ?? '',
        /^addresses of IPv6 are not carried/,
      );
    });
  });
