/** `GET /trace/node`: the state of a node that the packet trace needs, for `contiv-agent trace`. */
import { NodeSnapshot as SnapshotDocument } from '#documents/node-snapshot.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { argument, BadRequestError, type Route } from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import type { View } from '#kvscheduler/graph/dump.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { LinuxHost } from '#linux/api.ts';
import type { NodeIsolation, RestrictedAddress, TracedRule } from '#packet-trace/isolation.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import { isPolicyAclKey } from '#plugins/ipv4net/agent-keys.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import { podIdText } from '#plugins/podmanager/api.ts';
import { formatAddress } from '#plugins/policy/address-set.ts';
import type { PolicyApi } from '#plugins/policy/api.ts';
import { ruleText } from '#plugins/policy/connectivity/rule-document.ts';
import { isRestricted, type PolicyDirection, type RuleList } from '#plugins/policy/pod-policy.ts';
import type { ServiceApi } from '#plugins/service/api.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { readActualState } from './actual-state.ts';

/** Descriptors whose values decide about the path of a packet. */
const descriptors = [
  'linux-arp',
  'linux-interface',
  'linux-route',
  'vpp-acl',
  'vpp-arp',
  'vpp-bridge-domain',
  'vpp-interface',
  'vpp-interface-link-state',
  'vpp-l2-fib',
  'vpp-nat44-address-pool',
  'vpp-nat44-dnat',
  'vpp-nat44-global',
  'vpp-nat44-interface',
  'vpp-route',
] as const;

/** With services at sockets. */
const socketDescriptors = [
  'linux-socket-service',
  'linux-socket-node-address',
  'linux-socket-exemption',
  'linux-service-link',
] as const;

const views = ['SB', 'NB'] as const satisfies readonly View[];

type TracedView = (typeof views)[number];

export interface NodeSnapshotDeps {
  readonly label: string;
  readonly scheduler: Scheduler;
  readonly ipam: IpamApi;
  readonly net: Ipv4NetApi;
  readonly policies: PolicyApi;
  readonly services: Pick<ServiceApi, 'renderedServices'>;
  readonly client: VppClient;
  readonly linux: LinuxHost;
  /** Whether the kernel translates services at sockets. */
  readonly hasSocketServices: boolean;
}

interface TraceRoutesDeps extends NodeSnapshotDeps {
  readonly clock: Clock;
}

export function traceRoutes(deps: TraceRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/trace/node',
      mutating: false,
      summary: 'values that decide about the path of a packet through this node: view=SB|NB',
      query: {
        view: {
          description: 'SB, the actual state (default), or NB, the desired',
          choices: ['SB', 'NB'],
        },
      },
      reply: SnapshotDocument,
      handle: async (request) => {
        return streamedJson(
          await nodeSnapshot(deps, tracedView(argument(request, 'view') || 'SB')),
          deps.clock,
        );
      },
    },
  ];
}

/** @throws BadRequestError */
export function tracedView(text: string): TracedView {
  const view = views.find((one) => one === text);
  if (!view) throw new BadRequestError(`argument view="${text}" must be SB or NB`);
  return view;
}

export async function nodeSnapshot(
  deps: NodeSnapshotDeps,
  view: TracedView,
): Promise<NodeSnapshot> {
  const { label, scheduler, ipam, net, policies, services, hasSocketServices } = deps;
  const dumped = hasSocketServices ? [...descriptors, ...socketDescriptors] : descriptors;
  const dumps = await Promise.all(dumped.map((descriptor) => scheduler.dump(view, { descriptor })));
  const values = Object.fromEntries(dumps.flat().map(({ Key, Value }) => [Key, Value.value]));
  return {
    name: label,
    hostAddresses: net.hostAddresses(),
    pods: Object.fromEntries(
      [...ipam.allocations()]
        // of several families the primary one
        .filter(([address, { attachment = '' }]) => ipam.podAddresses(attachment)[0] === address)
        .map(([address, { pod }]) => [podIdText(pod), address]),
    ),
    ...(view === 'SB' && { actual: await readActualState(deps) }),
    isolation: {
      acls: Object.keys(values).filter(isPolicyAclKey),
      pods: isolatedPods(policies),
      services: restrictedAddresses(services),
    },
    values,
  };
}

function restrictedAddresses(services: NodeSnapshotDeps['services']): RestrictedAddress[] {
  return [...services.renderedServices().values()].flatMap(({ name, addresses }) =>
    addresses.flatMap(({ address, port, protocol, clients }): RestrictedAddress[] => {
      if (clients === undefined) return [];
      const { ranges, pods } = clients;
      return [{ service: name, address, port, protocol, ranges, refusesSockets: pods !== 'all' }];
    }),
  );
}

function isolatedPods(policies: PolicyApi): NodeIsolation['pods'] {
  return [...policies.policies().values()]
    .filter(({ ingress, egress }) => isRestricted(ingress) || isRestricted(egress))
    .map(({ pod, addresses, ingress, egress }) => ({
      pod,
      addresses: addresses.map(formatAddress),
      ingress: ingress.policies,
      egress: egress.policies,
      ...([ingress, egress].some(hasTiers) && {
        rules: { ingress: tracedRules(ingress, 'ingress'), egress: tracedRules(egress, 'egress') },
      }),
    }));
}

function hasTiers({ rules }: RuleList): boolean {
  return rules.some(({ tier }) => tier !== 'NetworkPolicy');
}

function tracedRules({ rules }: RuleList, direction: PolicyDirection): TracedRule[] {
  return rules.map((rule) => ({
    tier: rule.tier,
    action: rule.action,
    text: ruleText(rule, direction),
    peers: rule.peers.prefixes(),
    ...(!rule.ports.isAny && { ports: rule.ports.ranges }),
  }));
}
