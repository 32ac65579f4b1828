/** REST: one value with its relations. It costs as much as it has relations, not as there are values. */
import {
  type DependentValue,
  type RelatedValue,
  SingleValue,
  type ValueDependency,
} from '#documents/scheduler/single-value.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices, sortInSlices } from '#infra/clock/slices.ts';
import {
  argument,
  BadRequestError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import { byKey } from '../graph/by-key.ts';
import type { Graph } from '../graph/graph.ts';
import type { Node } from '../graph/node.ts';
import { ValueRelations } from '../graph/value-relations.ts';
import { claimLabel } from '../graph/value-status.ts';
import { RecordedValue } from '../history/record.ts';
import { timeText } from '../history/time.ts';
import { matches } from '../planner/planned-graph.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly } from './arguments.ts';

/** Names of those who set the desired value of a key: the scheduler knows only the value. */
export type OwnersOf = (key: string) => readonly string[];

/** Values of each relation. */
const MAX_RELATED = 50;
const MAX_DEPENDENCIES = 200;

export function singleValueRoutes(scheduler: Scheduler, clock: Clock, ownersOf: OwnersOf): Route[] {
  return [
    {
      method: 'GET',
      path: '/scheduler/value',
      mutating: false,
      summary:
        'one value: its states, who wants it, what it waits for, and its relations in both directions',
      query: { key: { description: 'key of the value', isRequired: true } },
      reply: SingleValue,
      handle: (request) => value(scheduler, clock, ownersOf, request),
    },
  ];
}

async function value(
  scheduler: Scheduler,
  clock: Clock,
  ownersOf: OwnersOf,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, ['key']);
  const key = argument(request, 'key');
  if (!key) throw new BadRequestError('argument key is missing: the key of a value');
  const slices = new Slices(clock);
  const { graph } = scheduler;
  const relations = new ValueRelations(graph, slices);
  const node = graph.peek(key);
  const dependencies = node ? await dependenciesOf(node, relations) : { total: 0, list: [] };
  const document: SingleValue = {
    key,
    state: 'NONEXISTENT',
    ...(node && statusOf(node)),
    invalidFields: node?.state === 'INVALID' ? [...(await relations.detailsOf(node))] : [],
    waitsFor: node?.state === 'PENDING' ? waitsOf(graph, node, dependencies.list) : [],
    ...(node && retriesOf(scheduler, node)),
    wantedBy: [...ownersOf(key)],
    ...valuesOf(node),
    metadata: node?.metadata ?? null,
    ...(node?.base && { derivedFrom: relatedOf(node.base) }),
    derived: await derivedOf(node, slices),
    dependencies,
    dependents: await dependentsOf(graph, key, node, { relations, slices }),
  };
  return streamedJson(document, clock);
}

function statusOf(node: Node): Partial<SingleValue> {
  const { state, descriptor, lastOperation, lastTxn, error, rejected, desired, actual } = node;
  return {
    state,
    ...(rejected &&
      desired !== undefined && { lastValidState: actual === desired ? 'CONFIGURED' : 'PENDING' }),
    ...(descriptor && { descriptor: descriptor.name, type: descriptor.typeName }),
    ...(lastOperation && { lastOperation }),
    ...(lastTxn >= 0 && { lastTransaction: lastTxn }),
    ...(error && { error: error.message }),
  };
}

function retriesOf(scheduler: Scheduler, node: Node): Pick<SingleValue, 'retries'> {
  const status = scheduler.graph.failed.has(node) ? scheduler.retriesOf(node) : undefined;
  if (!status) return {};
  const { started, maxAttempts: maximum, forTxn: firstTransaction, dueAt } = status;
  return {
    retries: {
      started,
      maximum,
      ...(dueAt !== undefined && { nextAt: timeText(dueAt) }),
      firstTransaction,
    },
  };
}

function valuesOf(node: Node | undefined) {
  const shown = (one: object | undefined): unknown =>
    one === undefined ? null : new RecordedValue(node?.descriptor, one).ProtoMsgData;
  const rejected = node?.rejected;
  return {
    isAsDesired: node !== undefined && node.actual === node.desired && !rejected,
    desired: shown(node?.desired),
    actual: shown(node?.actual),
    ...(rejected && {
      rejected: { value: shown(rejected.value), error: rejected.error.message },
    }),
  };
}

async function derivedOf(node: Node | undefined, slices: Slices): Promise<SingleValue['derived']> {
  const all = await sortInSlices([...(node?.derived ?? [])], byKey, slices);
  return { total: all.length, values: all.slice(0, MAX_RELATED).map(relatedOf) };
}

/** Those of the desired value; of a value that is to be removed, or was not inspected yet, of the actual one. */
async function dependenciesOf(
  node: Node,
  relations: ValueRelations,
): Promise<SingleValue['dependencies']> {
  const isInspected = node.desired !== undefined && !node.needsInspection;
  const all = isInspected ? node.desiredDependencies : node.actualDependencies;
  const list: ValueDependency[] = [];
  for (const dependency of all.slice(0, MAX_DEPENDENCIES)) {
    const { label, key, anyOf } = dependency;
    const { meeting, unavailable, hasMore } = await relations.matches(
      node,
      dependency,
      MAX_RELATED,
    );
    list.push({
      label,
      ...(key !== undefined && { key }),
      ...(anyOf && { prefixes: [...anyOf.prefixes], isSelective: anyOf.accepts !== undefined }),
      isMet: meeting.length > 0,
      values: meeting.map(relatedOf),
      hasMore,
      unavailable: unavailable.map(relatedOf),
    });
  }
  return { total: all.length, list };
}

/** Sentences about what a pending value waits for. It competes for claims only when nothing else is missing. */
function waitsOf(
  graph: Graph,
  { awaitedClaims }: Node,
  dependencies: readonly ValueDependency[],
): string[] {
  const open = dependencies.filter(({ isMet }) => !isMet);
  if (open.length > 0) return open.map((one) => `${one.label}: ${reasonOf(graph, one)}`);
  return awaitedClaims.map((name) => {
    const [holder] = graph.holders(name);
    return claimLabel(name, holder?.key);
  });
}

function reasonOf(
  graph: Graph,
  { key, prefixes = [], isSelective, unavailable }: ValueDependency,
): string {
  const candidates = unavailable.map((one) => stateText(graph.peek(one.key), one));
  if (key !== undefined && !unavailable.some((one) => one.key === key))
    candidates.unshift(`${key} does not exist`);
  if (candidates.length > 0) return candidates.join(', ');
  const which = isSelective ? 'a suitable key' : 'a key';
  return `there is no value with ${which} that begins with ${prefixes.join(' or ')}`;
}

function stateText(node: Node | undefined, { key, state }: RelatedValue): string {
  if (node?.outcomeUnknown) return `it is unknown whether ${key} exists`;
  if (node?.toBeRemoved && state === 'CONFIGURED') return `${key} is to be removed`;
  return node?.available ? `${key} is derived from this value` : `${key} is ${state}`;
}

/** Values with a dependency that the key meets, and those that wait for a claim of its value. */
async function dependentsOf(
  graph: Graph,
  key: string,
  node: Node | undefined,
  { relations, slices }: { readonly relations: ValueRelations; readonly slices: Slices },
): Promise<SingleValue['dependents']> {
  const found = new Map<Node, string[]>();
  const waiters = new Set<Node>();
  for (const one of await graph.dependentsInSlices(key, slices)) {
    if (slices.due()) await slices.turn();
    const labels = one.indexed.filter((each) => matches(each, key)).map(({ label }) => label);
    if (labels.length > 0) found.set(one, [...new Set(labels)]);
  }
  for (const name of graph.isAwaited() ? (node?.claims ?? []) : []) {
    if (slices.due()) await slices.turn();
    for (const waiter of graph.waiters(name)) {
      waiters.add(waiter);
      found.set(waiter, [...(found.get(waiter) ?? []), claimLabel(name, undefined)]);
    }
  }
  const all = await sortInSlices([...found], ([a], [b]) => waitingFirst(a, b), slices);
  const values: DependentValue[] = [];
  for (const [one, labels] of all.slice(0, MAX_RELATED))
    values.push({
      ...relatedOf(one),
      labels,
      isWaiting: waiters.has(one) || (await isWaiting(one, key, relations)),
    });
  return { total: all.length, values };
}

async function isWaiting(node: Node, key: string, relations: ValueRelations): Promise<boolean> {
  if (node.state !== 'PENDING') return false;
  for (const dependency of node.desiredDependencies)
    if (matches(dependency, key) && !(await relations.isMet(node, dependency))) return true;
  return false;
}

/** Pending ones first: only some are shown. */
function waitingFirst(a: Node, b: Node): number {
  const rank = Number(b.state === 'PENDING') - Number(a.state === 'PENDING');
  return rank === 0 ? byKey(a, b) : rank;
}

function relatedOf({ key, state }: Node): RelatedValue {
  return { key, state };
}
