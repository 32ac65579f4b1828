/** Services of this node in a state of Kubernetes that is not that of the cluster: computed by copies, nothing is changed. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { LocalNode } from './processor/local-node.ts';
import { ServiceProcessor } from './processor/service-processor.ts';
import type { RenderedService, ServiceName } from './rendered-service.ts';
import type { ServiceRenderer } from './renderer.ts';

export interface PlannedServices {
  /** With at least one address on this node. */
  readonly rendered: ReadonlyMap<ServiceName, RenderedService>;
  /** All values of services, of the node and of its interfaces, by key. */
  readonly values: ReadonlyMap<string, Value>;
  /** Why the service, or one of its addresses, is not carried as its object defines it. */
  problemsOf(service: ServiceName): readonly string[];
}

export async function planServices(
  kube: KubeState,
  node: LocalNode,
  renderer: ServiceRenderer,
  interfaces: ReadonlySet<string>,
  clock: Clock,
): Promise<PlannedServices> {
  const processor = new ServiceProcessor();
  await processor.resync(kube, node, new Slices(clock));
  const values = new Map<string, Value>();
  const txn = {
    replace: () => undefined,
    put: (key: string, value: Value) => void values.set(key, value),
    get: <V extends Value>(key: string) => values.get(key) as V | undefined,
  };
  const rendered = processor.rendered();
  await renderer.resync({ txn, clock }, { services: rendered, interfaces });
  return {
    rendered,
    values,
    problemsOf: (service) => problemsOf(processor, renderer, service),
  };
}

function problemsOf(
  processor: ServiceProcessor,
  renderer: ServiceRenderer,
  service: ServiceName,
): readonly string[] {
  const described = processor.describe(service);
  if (described === undefined) return [];
  const { whyNotRendered, addresses, problems } = described;
  const unrendered = addresses.flatMap((one) =>
    one.whyNotRendered === undefined
      ? []
      : [`${one.address} ${one.protocol} port ${one.port} is not served: ${one.whyNotRendered}`],
  );
  const all = whyNotRendered === undefined ? unrendered : [whyNotRendered];
  return [...new Set([...all, ...problems, ...renderer.limitsOf(service)])];
}
