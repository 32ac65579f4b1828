/** How long a change of an EndpointSlice takes until VPP has acknowledged it, with many services. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '#test/support/wait.ts';
import type { KubeApi } from './kube-api.ts';
import { createNamespace, deleteNamespace } from './namespaces.ts';
import { percentiles } from './percentiles.ts';
import type { SuiteRun } from './suite.ts';
import { eventsSince } from './vswitch.ts';

const NODE = 2;
const NAMESPACE = 'endpoint-changes';
const SERVICES = 1000;
const CHANGES = 400;
const CHANGES_A_SECOND = 20;
/** Requests to the API server at a time while services are created. */
const CREATORS = 16;
const LIMIT_MS = 180_000;

const SERVICES_PATH = `/api/v1/namespaces/${NAMESPACE}/services`;
const SLICES_PATH = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
const nameOf = (i: number): string => `service-${i}`;
/** No pods have them: the agent does not ask whether they exist. */
const endpoint = (i: number, host: number): object => ({
  addresses: [`10.1.${100 + Math.floor(i / 200)}.${host}`],
  conditions: { ready: true },
});

/** Each change is of another service, so that the event of a service is the one of its change. */
export async function measureEndpointChanges(api: KubeApi): Promise<SuiteRun> {
  createNamespace(NAMESPACE);
  try {
    const begin = Date.now();
    await createServices(api);
    await until(
      'the agent has all services',
      () => new Set(changesSince(begin).map(({ name }) => name)).size === SERVICES,
      LIMIT_MS,
      2000,
    );
    const changes = new Map<string, number>();
    const start = Date.now();
    const calls: Promise<unknown>[] = [];
    for (let i = 0; i < CHANGES; i++) {
      await sleep(Math.max(0, start + (i * 1000) / CHANGES_A_SECOND - Date.now()));
      changes.set(nameOf(i), Date.now());
      calls.push(api.call('PATCH', `${SLICES_PATH}/${nameOf(i)}`, { endpoints: [endpoint(i, 2)] }));
    }
    await Promise.all(calls);
    const seconds = (Date.now() - start) / 1000;
    let ends = acknowledged(start);
    for (let wait = 0; ends.size < CHANGES && wait < 30; wait++) {
      await sleep(1000);
      ends = acknowledged(start);
    }
    const times = [...ends].map(([name, end]) => end - changes.get(name)!);
    const isComplete = ends.size === CHANGES;
    return {
      cases: [
        {
          name: `VPP acknowledges all changes of EndpointSlices with ${SERVICES} services`,
          outcome: isComplete ? 'passed' : 'failed',
          message: isComplete ? '' : `${ends.size} of ${CHANGES} were acknowledged`,
        },
      ],
      measures: [
        `from the PATCH of an EndpointSlice to VPP's acknowledgement, ${SERVICES} services, ${Math.round(CHANGES / seconds)} changes a second: ${percentiles(times)}`,
      ],
    };
  } finally {
    deleteNamespace(NAMESPACE);
  }
}

async function createServices(api: KubeApi): Promise<void> {
  let next = 0;
  const create = async (): Promise<void> => {
    for (let i = next++; i < SERVICES; i = next++) {
      const name = nameOf(i);
      await api.call('POST', SERVICES_PATH, {
        metadata: { name },
        spec: { ports: [{ port: 80 }] },
      });
      await api.call('POST', SLICES_PATH, {
        metadata: { name, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        ports: [{ port: 80, protocol: 'TCP' }],
        endpoints: [endpoint(i, 1)],
      });
    }
  };
  await Promise.all(Array.from({ length: CREATORS }, create));
}

interface EndpointsEvent {
  readonly name: string;
  readonly isCommitted: boolean;
  /** Milliseconds since the epoch. */
  readonly end: number;
}

/** Changes of endpoints of these services that the agent has processed since. */
function changesSince(since: number): EndpointsEvent[] {
  return eventsSince(NODE, since).flatMap(({ Trace, ProcessingEnd }) => {
    const key = /k8s\/endpoints\/([^/]+)\/namespace\/(.*)$/.exec(Trace.Origin?.Key ?? '');
    if (key?.[2] !== NAMESPACE) return [];
    return [
      { name: key[1]!, isCommitted: Trace.CommitMs !== null, end: Date.parse(ProcessingEnd) },
    ];
  });
}

/** When VPP had acknowledged the first change of each service since. */
function acknowledged(since: number): Map<string, number> {
  const committed = changesSince(since).filter(({ isCommitted }) => isCommitted);
  return new Map(committed.toReversed().map(({ name, end }) => [name, end]));
}
