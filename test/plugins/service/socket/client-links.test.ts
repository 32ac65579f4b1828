/** Values for clients outside that come by a NIC of the host. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostLink } from '#plugins/controller/api/ports/host.ts';
import { FakeHost } from '../../fake-ports.ts';
import { nonDefaultFields } from '../../ipv4net/vpp-with.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import type { TestNode } from '../../test-node.ts';
import { endpointsValue, localPod, serviceValue } from '../service-values.ts';

const LINKS = 'config/linux/socket/v2/link/';
const BY_SOURCE = 'config/vpp/v2/route/vrf/4294967293/dst/';
const port = [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }];
const toVpp = { vpp_link: 'vpp1', gw_addr: '172.30.1.1' };

function link(name: string, ...addresses: string[]): HostLink {
  return { name, mtu: 1500, addresses };
}

async function nodeWith(hostLinks: HostLink[], hasSockets = true): Promise<TestNode> {
  const host = new FakeHost();
  host.socketServices = hasSockets;
  host.hostLinks = hostLinks;
  return await startedNode({ host, service: { socketServices: '/sys/fs' } });
}

function linksOf(node: TestNode): unknown[] {
  const keys = [...node.config.keys()].filter((key) => key.startsWith(LINKS));
  return keys.sort().map((key) => nonDefaultFields(node.at(key)));
}

describe('clients at a NIC of the host', () => {
  it('come by the links with addresses of the host, and replies by the link to VPP', async () => {
    const node = await nodeWith([
      link('eth1'),
      link('eth0', '172.16.0.5/24'),
      link('docker0', '172.17.0.1/16'),
      link('vpp1', '172.30.1.2/24'),
    ]);
    assert.deepEqual(linksOf(node), [{ host_if_name: 'eth0', ...toVpp }, { host_if_name: 'vpp1' }]);
  });

  it('are not served without such a link, or without services at sockets', async () => {
    assert.deepEqual(linksOf(await nodeWith([link('eth1')])), []);
    assert.deepEqual(linksOf(await nodeWith([link('eth0', '172.16.0.5/24')], false)), []);
  });

  it('get replies of pods that see them by the source, while there are such pods', async () => {
    const node = await nodeWith([link('eth0', '172.16.0.5/24')]);
    const routes = () =>
      ['0.0.0.0/1', '128.0.0.0/1'].map((one) => node.config.has(`${BY_SOURCE}${one}`));
    const service = (external_traffic_policy: 'Local' | 'Cluster') =>
      serviceValue('web', '10.96.0.10', {
        service_type: 'NodePort',
        external_traffic_policy,
        port,
      });
    await node.add('web', 'c1');
    await node.put(service('Cluster'));
    await node.put(endpointsValue('web', [localPod(2)]));
    assert.deepEqual(routes(), [false, false]);
    await node.put(service('Local'));
    assert.deepEqual(routes(), [true, true]);
    await node.put(service('Cluster'));
    assert.deepEqual(routes(), [false, false]);
  });
});
