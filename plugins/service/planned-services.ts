/** Services of this node in a state of Kubernetes that is not that of the cluster: nothing is changed. */
import type { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { ServiceProcessor } from './processor/service-processor.ts';
import type {
  OtherNodePort,
  RenderedService,
  ServiceAddress,
  ServiceName,
} from './rendered-service.ts';
import {
  type AddressCarrier,
  addressCarriers,
  type Carriers,
  carrierLimits,
} from './service-carriers.ts';
import { type CarrierInput, valueGroups } from './value-groups.ts';

export interface PlannedServices {
  /** With at least one address on this node. */
  readonly rendered: ReadonlyMap<ServiceName, RenderedService>;
  /** All values of services, of the node and of its interfaces, by key. */
  readonly values: ReadonlyMap<string, Value>;
  carriersOf(address: ServiceAddress): readonly AddressCarrier[];
  /** The ports of other nodes that are carried here: at sockets. */
  atOtherNodes(service: RenderedService): readonly OtherNodePort[];
  /** Why the service, or one of its addresses, is not carried as its object defines it. */
  problemsOf(service: ServiceName): readonly string[];
}

export async function plannedServices(
  processor: ServiceProcessor,
  input: CarrierInput,
  slices: Slices,
): Promise<PlannedServices> {
  const values = new Map<string, Value>();
  for (const [, group] of valueGroups(input)) {
    for (const { key, value } of group) values.set(key, value);
    if (slices.dueNow()) await slices.turn();
  }
  return {
    rendered: processor.rendered(),
    values,
    atOtherNodes: ({ atOtherNodes = [] }) => (input.carriers.sockets ? atOtherNodes : []),
    carriersOf: (address) => addressCarriers(address, input.carriers),
    problemsOf: (service) => problemsOf(processor, input.carriers, service),
  };
}

function problemsOf(
  processor: ServiceProcessor,
  carriers: Carriers,
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
  const limits = carrierLimits(processor.rendered().get(service), carriers);
  return [...new Set([...all, ...problems, ...limits])];
}
