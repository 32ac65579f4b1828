/** Services of this node before and after a change: their addresses, backends and values. */
import { isDeepStrictEqual } from 'node:util';
import type { ServedAddress, ServiceChange } from '#documents/connectivity.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Slices } from '#infra/clock/slices.ts';
import { hostAndPort } from '#models/ip.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import {
  ownerText,
  type PlannedServices,
  type RenderedService,
  type ServiceApi,
  type ServiceName,
} from '#plugins/service/api.ts';
import { type CheckedServices, checkedServices } from '../checked-services.ts';
import { areEqual, type ValueOperation, valueOperations } from './value-operations.ts';

export interface ServicePlan {
  readonly operations: readonly ValueOperation[];
  readonly changes: readonly ServiceChange[];
  readonly problems: readonly string[];
  /** Of the states before and after, for the policies that concern their clients. */
  readonly checked: readonly [before: CheckedServices, after: CheckedServices];
}

/** Resources that decide about services. */
const inputs = ['service', 'endpoints', 'pod'] as const;

/**
 * @param touched services that the change names
 * @returns undefined: no service changes, or services are not carried
 */
export async function planServiceChange(
  services: Pick<ServiceApi, 'plannedServices'>,
  states: { readonly before: KubeState; readonly after: KubeState },
  touched: ReadonlySet<ServiceName>,
  clock: Clock,
  slices: Slices,
): Promise<ServicePlan | undefined> {
  const { before, after } = states;
  if (!(await isChanged(before, after, slices))) return undefined;
  const old = await services.plannedServices(before, clock);
  const next = await services.plannedServices(after, clock);
  if (old === undefined || next === undefined) return undefined;
  return {
    operations: await valueOperations(old.values, next.values, slices),
    changes: await changesBetween(old, next, slices),
    problems: await newProblems(old, next, touched, slices),
    checked: [
      await checkedServices(old.rendered, slices),
      await checkedServices(next.rendered, slices),
    ],
  };
}

async function isChanged(before: KubeState, after: KubeState, slices: Slices): Promise<boolean> {
  for (const keyword of inputs) {
    const [old, next] = [before.get(keyword), after.get(keyword)];
    if (old?.size !== next?.size) return true;
    for (const [key, value] of next ?? []) {
      if (slices.due()) await slices.turn();
      if (old?.get(key) !== value) return true;
    }
  }
  return false;
}

async function changesBetween(
  old: PlannedServices,
  next: PlannedServices,
  slices: Slices,
): Promise<ServiceChange[]> {
  const changes: ServiceChange[] = [];
  for (const service of new Set([...old.rendered.keys(), ...next.rendered.keys()])) {
    if (slices.dueNow()) await slices.turn();
    const [before, after] = [old.rendered.get(service), next.rendered.get(service)];
    if (before && after && (await areEqual(before, after, slices))) continue;
    const change = {
      before: await servedBy(before, old, slices),
      after: await servedBy(after, next, slices),
    };
    if (!(await areEqual(change.before ?? [], change.after ?? [], slices)))
      changes.push({ service, ...change });
  }
  return changes.sort((a, b) => (a.service < b.service ? -1 : 1));
}

/** An address may have thousands of backends. */
async function servedBy(
  service: RenderedService | undefined,
  { carriersOf, atOtherNodes }: Pick<PlannedServices, 'carriersOf' | 'atOtherNodes'>,
  slices: Slices,
): Promise<readonly ServedAddress[] | null> {
  if (service === undefined) return null;
  const own: ServedAddress[] = [];
  for (const one of service.addresses) {
    if (slices.dueNow()) await slices.turn();
    const { kind, address, port, protocol, clients } = one;
    const backends = one.backends.map(hostAndPort);
    const carriers = carriersOf(one).map(({ carrier, backends: carried }) => {
      const ends = carried.map(hostAndPort);
      return isDeepStrictEqual(ends, backends) ? { carrier } : { carrier, backends: ends };
    });
    const sourceRanges = clients && { sourceRanges: clients.ranges };
    own.push({ kind, address, port, protocol, backends, ...sourceRanges, carriers });
  }
  const others = atOtherNodes(service).map(
    ({ address, port, protocol, backends }): ServedAddress => ({
      kind: 'node-port',
      address,
      port,
      protocol,
      backends: backends.map(hostAndPort),
      carriers: [{ carrier: 'sockets' }],
    }),
  );
  return [...own, ...others];
}

/** Services that are not named may lose an address, too, to one that is. */
async function newProblems(
  old: PlannedServices,
  next: PlannedServices,
  touched: ReadonlySet<ServiceName>,
  slices: Slices,
): Promise<string[]> {
  const found: string[] = [];
  for (const service of touched) {
    if (slices.dueNow()) await slices.turn();
    const known = new Set(old.problemsOf(service));
    if (slices.dueNow()) await slices.turn();
    for (const text of next.problemsOf(service))
      if (!known.has(text)) found.push(`${ownerText(service)}: ${text}`);
  }
  return found;
}
