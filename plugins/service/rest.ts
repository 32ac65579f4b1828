/** REST of services: the addresses of each service, its backends, and the NAT mappings that carry them. */
import {
  type ServiceAddressSummary,
  ServiceDocument,
  ServiceList,
  type ServiceSummary,
} from '#documents/services.ts';
import type { ValueState } from '#documents/value-states.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { json, NotFoundError, type Route } from '#infra/http/route.ts';
import { streamedList } from '#infra/http/streamed.ts';
import { hostAndPort } from '#models/ip.ts';
import type { ServiceApi } from './api.ts';
import type { AddressDescription, ServiceDescription } from './processor/service-description.ts';
import type { HealthCheckStates } from './wire-health-checks.ts';

export interface ServiceRoutesDeps {
  readonly services: ServiceApi;
  readonly clock: Clock;
  readonly stateOf: (key: string) => Pick<ValueState, 'state' | 'error'>;
  readonly healthChecks: HealthCheckStates;
  /** Reads the values from VPP and the kernel, by key; those that they do not have are missing. */
  readonly readActual: (keys: ReadonlySet<string>) => Promise<ReadonlyMap<string, object>>;
}

export function serviceRoutes(deps: ServiceRoutesDeps): Route[] {
  const { services, clock } = deps;
  return [
    {
      method: 'GET',
      path: '/contiv/v1/services',
      mutating: false,
      summary:
        'services of the cluster: addresses, backends, problems, and the state of their values',
      reply: ServiceList,
      handle: () => streamedList(summaries(deps), clock),
    },
    {
      method: 'GET',
      path: '/contiv/v1/services/:namespace/:name',
      mutating: false,
      summary:
        'one service: why backends are not used; its mappings, desired and read from VPP and the kernel',
      reply: ServiceDocument,
      async handle({ params }) {
        const name = `${params['namespace']}/${params['name']}`;
        const description = services.describeService(name);
        if (!description) throw new NotFoundError(`service ${name} is unknown`);
        return json(await document(deps, description));
      },
    },
  ];
}

function* summaries({ services, stateOf }: ServiceRoutesDeps): Iterable<ServiceSummary> {
  const rendered = services.renderedServices();
  const problems = services.serviceProblems();
  const renderer = services.rendererName() ?? null;
  for (const name of [...services.serviceNames()].sort()) {
    const description = services.describeService(name);
    if (!description) continue;
    yield {
      name,
      rendered: rendered.has(name),
      renderer,
      whyNotRendered: description.whyNotRendered,
      addresses: description.addresses.map(addressSummary),
      problems: problems.get(name) ?? [],
      values: [...services.valuesOf(name).keys()].map((key) => ({ key, ...stateOf(key) })),
    };
  }
}

function addressSummary({ backends, ...address }: AddressDescription): ServiceAddressSummary {
  const used = backends.filter(({ whyNotUsed }) => whyNotUsed === undefined);
  return {
    ...address,
    backends: used.map(hostAndPort),
    unusedBackends: backends.length - used.length,
  };
}

async function document(
  { services, stateOf, readActual, healthChecks }: ServiceRoutesDeps,
  description: ServiceDescription,
): Promise<ServiceDocument> {
  const values = services.valuesOf(description.name);
  const healthCheck = services.healthChecks().get(description.name);
  const error = healthChecks.failures().get(description.name)?.message ?? null;
  const byKubeProxy = healthChecks.areLeftToKubeProxy();
  const actual = values.size === 0 ? new Map() : await readActual(new Set(values.keys()));
  return {
    ...description,
    renderer: services.rendererName() ?? null,
    healthCheck: healthCheck ? { ...healthCheck, byKubeProxy, error } : null,
    problems: services.serviceProblems().get(description.name) ?? description.problems,
    values: [...values].map(([key, desired]) => ({
      key,
      ...stateOf(key),
      desired,
      actual: actual.get(key) ?? null,
    })),
  };
}
