/**
 * Services of two nodes whose pods have addresses of both families, with either one first: each client at each kind of address
 * in each family.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { assertBackends, assertNone } from '#test/services/compliance/answers.ts';
import type { Answer } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type ClusterNode, nodeIdentity, RealCluster } from '../support/cluster.ts';
import { networks } from '../support/networks.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { Station } from '../support/station.ts';

type Family = 4 | 6;
const families = [4, 6] as const;
const protocols = ['TCP', 'UDP'] as const;
/** So many connections reach both of two backends, except in one of a billion runs. */
const ENOUGH = 30;

interface TestPod {
  readonly sandbox: Sandbox;
  readonly node: ClusterNode;
  readonly station: Station;
}

/** Addresses of a service, and its node port. */
interface Asked {
  readonly clusterIp: Readonly<Record<Family, string>>;
  readonly external: Readonly<Record<Family, string>>;
  /** Of its load balancer. */
  readonly balanced: Readonly<Record<Family, string>>;
  readonly nodePort: number;
}

const web: Asked = {
  clusterIp: { 4: '10.96.0.10', 6: 'fd05::10' },
  external: { 4: '203.0.113.10', 6: '2001:db8::10' },
  balanced: { 4: '203.0.113.20', 6: '2001:db8::20' },
  nodePort: 30_080,
};
const local: Asked = {
  clusterIp: { 4: '10.96.0.11', 6: 'fd05::11' },
  external: { 4: '203.0.113.11', 6: '2001:db8::11' },
  balanced: { 4: '203.0.113.21', 6: '2001:db8::21' },
  nodePort: 30_081,
};

const matrix = (first: Family) =>
  describe(`services of both families, IPv${first} first`, {
    skip: withoutNodes() || withoutVhostNet() || withoutSocketHooks(),
    timeout: 600_000,
  }, () => {
    let cluster: RealCluster;
    const pods = new Map<string, TestPod>();
    const clients = new Map<string, Station>();
    /** Of the VPP of node1. */
    const asked = new Map<Family, string>();

    async function startPod(name: string, node: ClusterNode): Promise<void> {
      const sandbox = await node.node.pod(name);
      const station = new Station(name, sandbox, node.sysFs);
      for (const any of ['0.0.0.0', '::'] as const) await station.serve(8080, any);
      pods.set(name, { sandbox, node, station });
    }

    async function put(
      name: string,
      { clusterIp, external, balanced, nodePort }: Asked,
      backends: readonly string[],
      external_traffic_policy = '',
    ): Promise<void> {
      const inOrder = (all: Readonly<Record<Family, string>>) =>
        first === 4 ? [all[4], all[6]] : [all[6], all[4]];
      const port = protocols.map((protocol) => ({ name: protocol.toLowerCase(), protocol }));
      const service = serviceModel.canonical({
        name,
        namespace: 'default',
        service_type: 'LoadBalancer',
        external_traffic_policy,
        cluster_ip: clusterIp[first],
        cluster_ips: inOrder(clusterIp),
        external_ips: inOrder(external),
        lb_ingress_ips: inOrder(balanced),
        port: port.map((one) => ({ ...one, port: 80, node_port: nodePort })),
      });
      const endpoints = endpointsModel.canonical({
        name,
        namespace: 'default',
        endpoint_subsets: families.map((family) => ({
          addresses: backends.map((pod) => {
            const { sandbox, node } = pods.get(pod)!;
            const target_ref = { kind: 'Pod', namespace: 'default', name: pod };
            return { ip: sandbox.addressOf(family), node_name: node.name, target_ref };
          }),
          ports: port.map((one) => ({ ...one, port: 8080 })),
        })),
      });
      const { store } = cluster.etcd;
      const records = [
        [resources.endpoints, endpoints],
        [resources.service, service],
      ] as const;
      for (const [resource, value] of records)
        await store.put(
          REFLECTOR_PREFIX + resource.key(name, 'default'),
          valueText(resource, value),
        );
    }

    async function connect(from: string, address: string, port: number): Promise<Answer[]> {
      const answers = await Promise.all(
        protocols.map((protocol) =>
          clients.get(from)!.connect({ address, port, protocol }, ENOUGH),
        ),
      );
      return answers.flat();
    }

    before(async () => {
      cluster = await RealCluster.create({
        nodes: 2,
        family: first,
        isDual: true,
        sockets: true,
        gateway: networks[first].outside.address,
        contiv: { routeServiceCIDRToVPP: true },
      });
      const [one, two] = cluster.nodes;
      for (const [name, node] of Object.entries({ a: one!, b: one!, x: two! }))
        await startPod(name, node);
      for (const address of (await nodeIdentity(one!.node)).nodeIps)
        asked.set(address.includes(':') ? 6 : 4, address);
      for (const family of families)
        for (const { external, balanced } of [web, local])
          for (const address of [external[family], balanced[family]])
            await cluster.routeOutside(`${address}/${family === 4 ? 32 : 128}`, asked.get(family)!);
      clients.set('pod', pods.get('a')!.station);
      clients.set('remote pod', pods.get('x')!.station);
      clients.set('host', new Station('host', one!.host, one!.sysFs));
      clients.set('outside', new Station('outside', cluster.outside));
      await put('web', web, ['b', 'x']);
      await put('local', local, ['a', 'x'], 'Local');
      for (const { node } of cluster.nodes)
        await until('the services are rendered', async () => {
          const { body } = await node.agent.get('/contiv/v1/services');
          const services = body as { name: string; rendered: boolean; addresses: object[] }[];
          return (
            services.filter(({ rendered, addresses }) => rendered && addresses.length > 8).length >
            1
          );
        });
    });
    after(async () => {
      for (const station of [...pods.values()].map((one) => one.station)) await station.end();
      for (const name of ['host', 'outside']) await clients.get(name)?.end();
      await cluster?.[Symbol.asyncDispose]();
    });

    for (const family of families) {
      for (const from of ['pod', 'remote pod', 'host']) {
        it(`${from} to each kind of address, IPv${family}`, async () => {
          const nodeAddress = asked.get(family)!;
          const cells = {
            'cluster IP': [web.clusterIp[family], 80, ['b', 'x']],
            'node port': [nodeAddress, web.nodePort, ['b', 'x']],
            'external IP': [web.external[family], 80, ['b', 'x']],
            'cluster IP, Local': [local.clusterIp[family], 80, ['a', 'x']],
            'external IP, Local': [local.external[family], 80, ['a', 'x']],
            // each node has its own backends there, for those that ask at another node
            'node port, Local': [
              nodeAddress,
              local.nodePort,
              from === 'remote pod' ? ['a'] : ['a', 'x'],
            ],
          } as const;
          for (const [cell, [address, port, backends]] of Object.entries(cells))
            assertBackends(await connect(from, address, port), backends, `${from} to ${cell}`);
        });
      }
    }

    for (const family of families)
      it(`outside to each kind of address, IPv${family}`, async () => {
        const nodeAddress = asked.get(family)!;
        assertNone(await connect('outside', web.clusterIp[family], 80), 'cluster IP');
        const cells = {
          'node port': [nodeAddress, web.nodePort, ['b', 'x']],
          'external IP': [web.external[family], 80, ['b', 'x']],
          'load balancer': [web.balanced[family], 80, ['b', 'x']],
          'node port, Local': [nodeAddress, local.nodePort, ['a']],
          'external IP, Local': [local.external[family], 80, ['a']],
          'load balancer, Local': [local.balanced[family], 80, ['a']],
        } as const;
        for (const [cell, [address, port, backends]] of Object.entries(cells))
          assertBackends(await connect('outside', address, port), backends, `outside to ${cell}`);
      });

    it('no service has a problem', async () => {
      const { body } = await cluster.nodes[0]!.node.agent.get('/contiv/v1/services');
      const services = body as { name: string; problems: string[] }[];
      for (const { name, problems } of services) assert.deepEqual(problems, [], name);
    });

    it('a killed agent changes nothing when it starts again, and services continue', async () => {
      const { node } = cluster.nodes[0]!;
      const before = await node.configuration();
      await node.agent.end('SIGKILL');
      const assertServed = async () => {
        for (const family of families) {
          assertBackends(await connect('pod', web.clusterIp[family], 80), ['b', 'x']);
          assertBackends(await connect('outside', web.external[family], 80), ['b', 'x']);
        }
      };
      await assertServed();
      await node.agent.start();
      assert.deepEqual(await node.configuration(), before);
      const { body } = await node.agent.get('/scheduler/txn-history?format=json');
      const [resync] = body as { Executed?: object[] }[];
      assert.deepEqual(resync?.Executed ?? [], [], 'the resync of the next agent');
      await assertServed();
    });
  });

for (const first of families) matrix(first);
