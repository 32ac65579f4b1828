/** Flows with a simulated kernel, and a VPP of the test. */
import { Registry } from 'prom-client';
import type { Flow, FlowsDocument } from '#documents/flows.ts';
import { flowsDefaults } from '#flows/config.ts';
import type { FindReason } from '#flows/flow-reason.ts';
import { Peers, type PeersDeps } from '#flows/peers.ts';
import { wireFlows } from '#flows/wire-flows.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { HealingResync } from '#plugins/controller/api/events.ts';
import type { DenialsPort } from '#plugins/controller/api/ports/denials.ts';
import type { FlowProbePort } from '#plugins/controller/api/ports/flow-probe.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { SimFlowSource } from '#simulator/linux/flow-source.ts';
import { ask } from '../plugins/policy/asked-route.ts';

export const DOCUMENT = 'GET /contiv/v1/flows';

export function pod(name: string, address: string, labels: Readonly<Record<string, string>> = {}) {
  return podModel.canonical({
    name,
    namespace: 'shop',
    ip_address: address,
    host_ip_address: '192.0.2.1',
    labels,
  });
}

const service = serviceModel.canonical({
  name: 'web',
  namespace: 'shop',
  cluster_ip: '10.96.0.10',
  port: [{ name: '', protocol: 'TCP', port: 80, node_port: 30_080 }],
});

function node(name: string, id: number): Node {
  return {
    id,
    name,
    vppAddresses: [`192.168.16.${id}/24`],
    managementAddresses: [`192.0.2.${id}`],
    podCidr: '',
  };
}

interface Given {
  readonly shortens?: boolean;
  readonly records?: number;
  readonly allocations?: PeersDeps['ipam']['allocations'];
  readonly findReason?: FindReason;
  readonly denials?: DenialsPort;
  readonly probe?: FlowProbePort;
}

const isDenied: FindReason = async ({ server }) =>
  server.port === 5_432 ? { verdict: 'denied', reason: 'a policy' } : undefined;

export function startedFlows({
  shortens = false,
  records = 1_000,
  allocations = () => new Map(),
  findReason = isDenied,
  denials,
  probe,
}: Given = {}) {
  const pods = new Map<string, Value>([
    ['pod/client/shop', pod('client-abc-1', '10.1.1.2', { 'pod-template-hash': 'abc' })],
    ['pod/server/shop', pod('server', '10.1.2.3')],
    ['pod/host/shop', pod('host', '192.0.2.1')],
  ]);
  const kube = new Map([
    ['pod', pods],
    ['service', new Map<string, Value>([['service/web/shop', service]])],
  ]);
  const deps: PeersDeps = {
    label: 'node1',
    kubeState: () => kube,
    nodes: {
      allNodes: () => new Map([node('node1', 1), node('node2', 2)].map((n) => [n.name, n])),
    },
    ipam: { allocations },
    hostLinkOwner: () => (address) => (address === '172.30.2.2' ? 2 : undefined),
    shortenOutsideAddresses: shortens,
  };
  const peers = new Peers(deps);
  peers.observe(HealingResync.event({ type: 'after-error', error: 'a test' }));
  const source = new SimFlowSource();
  const clock = new ManualClock();
  const registry = new Registry();
  const { components, routes, fault } = wireFlows({
    label: 'node1',
    config: { ...flowsDefaults, flowRecords: records, shortenOutsideAddresses: shortens },
    source,
    isSimulated: false,
    peers,
    findReason,
    denials,
    probe,
    registry,
    clock,
    log: silentLogger,
  });
  void components[0]?.afterInit?.();
  return {
    components,
    peers,
    source,
    clock,
    registry,
    routes,
    fault,
    flows: async (query: Record<string, string[]> = {}): Promise<readonly Flow[]> => {
      await clock.advance(300);
      const { body } = await ask(routes, DOCUMENT, { query });
      return (body as FlowsDocument).flows;
    },
  };
}
