/** A service for documents: all addresses and endpoints, also those that are not used, and why. */
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { AddressKind, ServiceName } from '../rendered-service.ts';
import { type Endpoint, type EndpointState, endpointList, noEndpoints } from './endpoint-list.ts';
import { judgmentFor } from './endpoint-selection.ts';
import type { ServiceSpec, TrafficPolicy } from './service-spec.ts';
import {
  clientsOf,
  policyOf,
  portOf,
  type RenderingContext,
  whyNotCarried,
} from './service-state.ts';

export interface ServiceDescription {
  readonly name: ServiceName;
  /** Why nothing of the service is rendered; undefined if something may be. */
  readonly whyNotRendered: string | undefined;
  /** Rendered ones first. */
  readonly addresses: readonly AddressDescription[];
  /** Requirements of the service, and endpoints in its record, that cannot be met. */
  readonly problems: readonly string[];
}

export interface AddressDescription {
  readonly kind: AddressKind;
  readonly portName: string;
  readonly address: string;
  readonly port: number;
  /** As in the object. */
  readonly protocol: string;
  /** undefined: it is rendered. */
  readonly whyNotRendered: string | undefined;
  readonly policy: TrafficPolicy;
  /** Networks of the clients that may use it; absent: everyone. */
  readonly sourceRanges?: readonly string[];
  /** Used ones first, in their order; none if the address is not rendered. */
  readonly backends: readonly BackendDescription[];
}

export interface BackendDescription {
  readonly address: string;
  readonly port: number;
  /** Empty: unknown. */
  readonly nodeName: string;
  /** `<namespace>/<name>`; empty: it is not a pod. */
  readonly pod: string;
  readonly isLocal: boolean;
  readonly state: EndpointState;
  /** undefined: it is used. */
  readonly whyNotUsed: string | undefined;
}

export function describeService(
  spec: ServiceSpec,
  record: Endpoints | undefined,
  context: RenderingContext,
): ServiceDescription {
  const endpoints = record === undefined ? noEndpoints : endpointList(record, context);
  const requested = spec.addresses.map((one): AddressDescription => {
    const { key, ...address } = one;
    const policy = policyOf(spec, one);
    const clients = clientsOf(spec, one);
    const whyNotRendered = whyNotCarried(one, spec.name, context)?.reason;
    const isRendered = whyNotRendered === undefined;
    const all = endpoints.byPort.get(portOf(one)) ?? [];
    return {
      ...address,
      policy,
      ...(clients && { sourceRanges: clients.ranges }),
      whyNotRendered,
      backends: isRendered ? describeBackends(policy, all, context) : [],
    };
  });
  const unrendered = spec.unrendered.map(
    ({ kind, portName, address, port, protocol, reason }): AddressDescription => ({
      kind,
      portName,
      address,
      port,
      protocol,
      policy: policyOf(spec, { kind }),
      whyNotRendered: reason,
      backends: [],
    }),
  );
  return {
    name: spec.name,
    whyNotRendered: spec.whyNot,
    addresses: [...requested, ...unrendered].sort(
      (a, b) => Number(a.whyNotRendered !== undefined) - Number(b.whyNotRendered !== undefined),
    ),
    // two ports over two protocols would say the same of an address four times
    problems: [...new Set([...spec.problems, ...endpoints.problems])],
  };
}

function describeBackends(
  policy: TrafficPolicy,
  all: readonly Endpoint[],
  context: RenderingContext,
): BackendDescription[] {
  const why = judgmentFor(policy, all, context.topology);
  const described = context.orderBackends(all).map((endpoint) => {
    const { address, port, nodeName, pod, isLocal, state } = endpoint;
    return { address, port, nodeName, pod, isLocal, state, whyNotUsed: why(endpoint) };
  });
  return [
    ...described.filter(({ whyNotUsed }) => whyNotUsed === undefined),
    ...described.filter(({ whyNotUsed }) => whyNotUsed !== undefined),
  ];
}
