/** REST of the pods of this node: addresses, interfaces, states of their values, policies, services. */
import { PodDocument, PodList, type PodSummary, type ServiceUse } from '#documents/pods.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices, sortInSlices } from '#infra/clock/slices.ts';
import { limitArgument, searchArgument } from '#infra/http/list-arguments.ts';
import {
  NotFoundError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import type { ValueStateReader } from '#plugins/controller/api/value-states.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import {
  type Attachment,
  attachmentId,
  type PodId,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';
import type { PolicyApi } from '#plugins/policy/api.ts';
import type { Backend, ServiceApi, ServiceName } from '#plugins/service/api.ts';
import type { Ipv4NetApi, PodBandwidth } from './api.ts';

export interface PodRoutesDeps {
  readonly pods: Pick<PodManagerApi, 'attachments' | 'attachmentsOf' | 'isDisplaced'>;
  readonly ipam: Pick<IpamApi, 'podAddresses'>;
  readonly net: Pick<Ipv4NetApi, 'podInterfaces' | 'podKeys' | 'podBandwidth'>;
  readonly services: Pick<
    ServiceApi,
    'servicesOfPod' | 'describeService' | 'translationOf' | 'renderedServices' | 'carriersOf'
  >;
  readonly policies: Pick<PolicyApi, 'policies' | 'valuesOf'>;
  readonly values: ValueStateReader;
  /** Index in VPP by logical name; undefined: VPP does not have the interface. */
  readonly swIfIndexOf: (vppInterface: string) => number | undefined;
  readonly clock: Clock;
}

/** Services of which the document of a pod has the addresses. */
const SERVICES_LIMIT = 100;

export function podRoutes(deps: PodRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/contiv/v1/pods',
      mutating: false,
      summary: 'pods attached to this node: addresses, interfaces, and the state of their values',
      query: {
        search: {
          description: 'only pods with this text in their name, addresses, IDs or interfaces',
        },
        limit: { description: 'number of pods; default and largest: 200' },
      },
      reply: PodList,
      handle: (request) => podList(deps, request),
    },
    {
      method: 'GET',
      path: '/contiv/v1/pods/:namespace/:name',
      mutating: false,
      summary:
        'one pod of this node: also the policies that isolate it, the services that forward to it, and all its values',
      reply: PodDocument,
      handle: ({ params }) =>
        podDocument(deps, { namespace: params['namespace']!, name: params['name']! }),
    },
  ];
}

async function podList(deps: PodRoutesDeps, request: RouteRequest): Promise<RouteResponse> {
  const limit = limitArgument(request, 'limit');
  const isFound = searchArgument(request, 'search');
  const slices = new Slices(deps.clock);
  const all = [...deps.pods.attachments().values()];
  const matching: Attachment[] = [];
  await slices.each(all, (one) => {
    if (isFound(searchedTexts(deps, one))) matching.push(one);
  });
  const sorted = await sortInSlices(matching, byPod, slices);
  const pods: PodSummary[] = [];
  await slices.each(sorted.slice(0, limit), (one) => {
    pods.push(podSummary(deps, one));
  });
  const list: PodList = { total: all.length, matching: matching.length, pods };
  return streamedJson(list, deps.clock);
}

function* searchedTexts({ ipam, net }: PodRoutesDeps, one: Attachment): Iterable<string> {
  const id = attachmentId(one);
  yield podIdText(one.pod);
  yield* ipam.podAddresses(id);
  yield one.containerId;
  yield one.networkNamespace;
  const names = net.podInterfaces(id);
  if (!names) return;
  yield names.vpp;
  yield names.linux;
}

function byPod(a: Attachment, b: Attachment): number {
  if (a.pod.namespace !== b.pod.namespace) return a.pod.namespace < b.pod.namespace ? -1 : 1;
  if (a.pod.name === b.pod.name) return 0;
  return a.pod.name < b.pod.name ? -1 : 1;
}

function podSummary(deps: PodRoutesDeps, one: Attachment): PodSummary {
  const { pods, ipam, net, values, services, swIfIndexOf } = deps;
  const id = attachmentId(one);
  const names = net.podInterfaces(id);
  return {
    namespace: one.pod.namespace,
    name: one.pod.name,
    containerId: one.containerId,
    networkNamespace: one.networkNamespace,
    addresses: [...ipam.podAddresses(id)],
    interfaces: names
      ? {
          vpp: { name: names.vpp, swIfIndex: swIfIndexOf(names.vpp) ?? null },
          linux: { name: names.linux, hostName: one.interfaceName },
        }
      : null,
    isAdopted: one.adopted !== undefined,
    isDisplaced: pods.isDisplaced(id),
    serviceTranslation: services.translationOf(one) ?? null,
    bandwidth: bandwidthOf(net.podBandwidth(id)),
    attachedAt: one.attachedAt ?? null,
    values: values.summaryOf(net.podKeys(id)),
  };
}

function bandwidthOf(one: PodBandwidth | undefined): PodSummary['bandwidth'] {
  if (!one) return null;
  const { limits, problems } = one;
  return {
    ingress: limits.ingress ?? null,
    egress: limits.egress ?? null,
    problems: [...problems],
  };
}

async function podDocument(deps: PodRoutesDeps, pod: PodId): Promise<RouteResponse> {
  const { pods, net, policies, values, services, clock } = deps;
  const attachments = pods.attachmentsOf(pod);
  if (attachments.length === 0)
    throw new NotFoundError(`pod ${podIdText(pod)} is not attached to the network of this node`);
  const names = services.servicesOfPod(pod);
  const document: PodDocument = {
    namespace: pod.namespace,
    name: pod.name,
    attachments: attachments.map((one) => {
      const id = attachmentId(one);
      const policy = policies.policies().get(id);
      return {
        ...podSummary(deps, one),
        policies: policy
          ? { ingress: policy.ingress.policies, egress: policy.egress.policies }
          : null,
        valueStates: values.statesOf([...net.podKeys(id), ...policies.valuesOf(id).keys()]),
      };
    }),
    servicesTotal: names.length,
    services: await servicesOf(deps, pod, names.slice(0, SERVICES_LIMIT)),
  };
  return streamedJson(document, clock);
}

async function servicesOf(
  { services, clock }: PodRoutesDeps,
  pod: PodId,
  names: readonly string[],
): Promise<ServiceUse[]> {
  const slices = new Slices(clock);
  const found: ServiceUse[] = [];
  for (const service of names) {
    // each may have thousands of endpoints
    if (slices.dueNow()) await slices.turn();
    for (const one of services.describeService(service)?.addresses ?? [])
      for (const backend of one.backends) {
        if (backend.pod !== podIdText(pod)) continue;
        const { kind, address, port, protocol, portName } = one;
        found.push({
          service,
          kind,
          address,
          port,
          protocol,
          portName,
          podAddress: backend.address,
          targetPort: backend.port,
          whyNotUsed: backend.whyNotUsed ?? null,
          carriers: carriersTo(backend, services, service, one),
        });
      }
  }
  return found;
}

/** Names of those that forward clients of an address to a backend. */
function carriersTo(
  backend: Pick<Backend, 'address' | 'port'>,
  services: PodRoutesDeps['services'],
  service: ServiceName,
  { address, port, protocol }: Pick<ServiceUse, 'address' | 'port' | 'protocol'>,
): string[] {
  const rendered = services
    .renderedServices()
    .get(service)
    ?.addresses.find(
      (one) => one.address === address && one.port === port && one.protocol === protocol,
    );
  const carriers = rendered === undefined ? [] : services.carriersOf(rendered);
  const isIn = (backends: readonly Backend[]) =>
    backends.some((one) => one.address === backend.address && one.port === backend.port);
  return carriers.filter(({ backends }) => isIn(backends)).map(({ carrier }) => carrier);
}
