/** Reasons by the state of Kubernetes of a server that refuses, or does not answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServerReasons } from '#cmd/agent/flow-reasons/server-reasons.ts';
import { TracedReasons } from '#cmd/agent/flow-reasons/traced-reasons.ts';
import type { Flow, FlowEnd } from '#documents/flows.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import type { ServiceApi } from '#plugins/service/api.ts';

const ipam: IpamConfig = {
  useExternalIpam: false,
  contivCidr: '',
  serviceCidr: '10.96.0.0/12',
  nodeInterconnectDhcp: false,
  nodeInterconnectCidr: '192.168.16.0/24',
  podSubnetCidr: '10.1.0.0/16',
  podSubnetOneNodePrefixLen: 24,
  podSubnetOneNodePrefixLenIpv4: 0,
  podSubnetOneNodePrefixLenIpv6: 0,
  vppHostSubnetCidr: '172.30.0.0/16',
  vppHostSubnetOneNodePrefixLen: 24,
  vppHostSubnetOneNodePrefixLenIpv4: 0,
  vppHostSubnetOneNodePrefixLenIpv6: 0,
  vxlanCidr: '192.168.30.0/24',
  defaultGateway: '',
};

type Description = NonNullable<ReturnType<ServiceApi['describeService']>>;

function address(port: number, backends: readonly (string | undefined)[], why?: string) {
  return {
    kind: 'cluster-ip',
    address: '10.96.0.10',
    port,
    protocol: 'TCP',
    whyNotRendered: why,
    backends: backends.map((whyNotUsed, at) => ({ pod: `shop/web-${at}`, whyNotUsed })),
  };
}

const web = {
  name: 'shop/web',
  addresses: [
    address(80, []),
    address(81, ['it is not ready']),
    address(82, ['it is not ready', undefined]),
    address(83, [], 'SCTP'),
  ],
} as unknown as Description;

function node(id: number, name: string, vppAddresses: readonly string[]): Node {
  return { id, name, vppAddresses, managementAddresses: [`192.0.2.${id}`], podCidr: '' };
}

function reasons() {
  const pod = (name: string, host: string) => [
    resources.pod.key(name, 'shop'),
    podModel.canonical({ name, namespace: 'shop', host_ip_address: host }),
  ];
  const pods = new Map([pod('near', '192.0.2.1'), pod('far', '192.0.2.2')] as [string, object][]);
  return new ServerReasons({
    services: { describeService: (name) => (name === 'shop/web' ? web : undefined) },
    nodes: {
      allNodes: () =>
        new Map(
          [node(1, 'node1', ['192.168.16.1/24']), node(2, 'node2', [])].map((n) => [n.name, n]),
        ),
    },
    addresses: () => ipam,
    kubeState: () => new Map([['pod', pods]]),
  });
}

function flow(verdict: Flow['verdict'], server: Partial<FlowEnd>, service?: Flow['service']): Flow {
  const end = {
    address: '10.1.1.2',
    port: 80,
    kind: 'pod',
    name: 'shop/near',
    workload: '',
  } as const;
  return {
    id: '1',
    node: 'node1',
    side: 'client',
    time: '',
    protocol: 'TCP',
    verdict,
    reason: '',
    client: { ...end, port: 40_000 },
    server: { ...end, ...server },
    ...(service && { service }),
    clientBytes: 0,
    serverBytes: 0,
    rttUs: 0,
    retransmissions: 0,
    stalledMs: 0,
  };
}

const outside = (at: string): Partial<FlowEnd> => ({ kind: 'outside', name: '', address: at });
const asked = (port: number) => ({ name: 'shop/web', address: '10.96.0.10', port });

describe('reasons of servers', () => {
  const cases: readonly (readonly [string, Flow, string | undefined])[] = [
    ['no process listens', flow('refused', {}), 'no process listens at TCP port 80 of shop/near'],
    [
      'a service without endpoints',
      flow('no-answer', { kind: 'service', name: 'shop/web', address: '10.96.0.10' }),
      'service shop/web has no endpoint for TCP port 80',
    ],
    [
      'endpoints that are not used',
      flow('no-answer', {}, asked(81)),
      'service shop/web has no endpoint for TCP port 81: shop/web-0 is not used, because it is not ready',
    ],
    ['a service with an endpoint', flow('no-answer', {}, asked(82)), undefined],
    [
      'a service that is not carried',
      flow('no-answer', {}, asked(83)),
      'service shop/web is not carried by this node: SCTP',
    ],
    [
      'a node without an address',
      flow('no-answer', { name: 'shop/far' }),
      'node node2, which has shop/far, is not reachable: it has no address of VPP in the cluster',
    ],
    ['a pod that does not answer', flow('no-answer', {}), undefined],
    [
      'an address of no pod',
      flow('no-answer', outside('10.1.2.9')),
      'no pod has 10.1.2.9, an address for pods of node node2',
    ],
    [
      'an address of no service',
      flow('no-answer', outside('10.96.0.99')),
      'no service has 10.96.0.99, TCP port 80',
    ],
    [
      'an address outside',
      flow('no-answer', outside('198.51.100.7')),
      '198.51.100.7 is not in this cluster',
    ],
    [
      'a prefix outside',
      flow('refused', outside('198.51.100.0/24')),
      '198.51.100.0/24 is not in this cluster: it has refused it',
    ],
  ];
  for (const [name, given, text] of cases)
    it(name, () => assert.equal(reasons().find(given)?.text, text));
});

describe('reasons of the packet trace', () => {
  it('are asked for seldom, and for the same ends once', async () => {
    const clock = new ManualClock();
    let reads = 0;
    const traces = new TracedReasons({
      readSnapshot: async () => {
        reads++;
        throw new Error('no VPP');
      },
      clock,
    });
    await assert.rejects(traces.find(flow('no-answer', {})), /no VPP/);
    for (let port = 1; port < 100; port++)
      assert.equal(await traces.find(flow('no-answer', { port })), undefined);
    assert.equal(reads, 1);
    await clock.advance(10_000);
    await assert.rejects(traces.find(flow('no-answer', {})), /no VPP/);
    assert.equal(reads, 2);
  });
});
