/** REST: some of the values, found by words, state and descriptor. */
import { ValueSearch, type ValueSummary } from '#documents/scheduler/value-search.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import {
  argument,
  BadRequestError,
  integerArgument,
  json,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import type { ValueState } from '../api/value-state.ts';
import type { Node } from '../graph/node.ts';
import { ValueRelations } from '../graph/value-relations.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly } from './arguments.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
/** A value may wait for any number of others: their number is shown beside the first ones. */
const SHOWN_DETAILS = 5;

/** All states but those of values that are as they should be, which are most. */
const PROBLEM = 'problem';
const problemStates: readonly ValueState[] = [
  'PENDING',
  'RETRYING',
  'FAILED',
  'INVALID',
  'UNIMPLEMENTED',
  'MISSING',
  'REMOVED',
  'NONEXISTENT',
];
const allStates: readonly ValueState[] = ['CONFIGURED', 'OBTAINED', 'DISCOVERED', ...problemStates];
const choices = [PROBLEM, ...allStates];

interface Search {
  /** In lower case. */
  readonly words: readonly string[];
  /** Empty: all. */
  readonly states: ReadonlySet<ValueState>;
  readonly descriptor: string | undefined;
  readonly limit: number;
  readonly after: string | undefined;
}

export function valueSearchRoutes(scheduler: Scheduler, clock: Clock): Route[] {
  return [
    {
      method: 'GET',
      path: '/scheduler/values',
      mutating: false,
      summary: 'number of values by state, and those with some words, states or descriptor',
      query: {
        search: { description: 'words that are all in the key or in the error' },
        state: { description: 'state of the values', choices, isRepeatable: true },
        descriptor: { description: 'values of this descriptor' },
        limit: { description: 'number of values, up to 200; default: 50' },
        after: { description: 'only values after this key' },
      },
      reply: ValueSearch,
      handle: (request) => search(scheduler, clock, request),
    },
  ];
}

async function search(
  { graph, timeline }: Scheduler,
  clock: Clock,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, ['search', 'state', 'descriptor', 'limit', 'after'], ['state']);
  const wanted = searchOf(request);
  const slices = new Slices(clock);
  const states: Partial<Record<ValueState, number>> = {};
  for (const [state, count] of timeline.states) if (count > 0) states[state] = count;

  const found: Node[] = [];
  let matches = 0;
  let hasMore = false;
  // Many ask for problems while there are none.
  const isPossible = wanted.states.size === 0 || [...wanted.states].some((one) => states[one]);
  for (const node of isPossible ? graph.stepwise('') : []) {
    if (slices.due()) await slices.turn();
    if (!isMatch(node, wanted)) continue;
    matches++;
    if (wanted.after !== undefined && node.key <= wanted.after) continue;
    if (found.length < wanted.limit) found.push(node);
    else hasMore = true;
  }

  const relations = new ValueRelations(graph, slices);
  const values: ValueSummary[] = [];
  for (const node of found) values.push(await summaryOf(node, relations));
  const document: ValueSearch = { states, total: graph.size, matches, values, hasMore };
  return json(document);
}

/** @throws BadRequestError */
function searchOf(request: RouteRequest): Search {
  const limit = integerArgument(request, 'limit') ?? DEFAULT_LIMIT;
  if (limit > MAX_LIMIT)
    throw new BadRequestError(`argument limit="${limit}" must be at most ${MAX_LIMIT}`);
  const states = new Set<ValueState>();
  for (const text of request.query['state'] ?? []) {
    const chosen = text === PROBLEM ? problemStates : allStates.filter((one) => one === text);
    if (chosen.length === 0)
      throw new BadRequestError(`argument state="${text}" must be one of ${choices.join(', ')}`);
    for (const state of chosen) states.add(state);
  }
  const words = (argument(request, 'search') ?? '').toLowerCase().split(/\s+/);
  return {
    words: words.filter((word) => word !== ''),
    states,
    descriptor: argument(request, 'descriptor') || undefined,
    limit,
    after: argument(request, 'after') || undefined,
  };
}

function isMatch(
  { key, state, descriptor, error }: Node,
  { words, states, descriptor: name }: Search,
): boolean {
  if (states.size > 0 && !states.has(state)) return false;
  if (name !== undefined && descriptor?.name !== name) return false;
  if (words.length === 0) return true;
  const lowerKey = key.toLowerCase();
  return words.every(
    (word) => lowerKey.includes(word) || (error?.message.toLowerCase().includes(word) ?? false),
  );
}

async function summaryOf(node: Node, relations: ValueRelations): Promise<ValueSummary> {
  const { key, state, descriptor, lastOperation, error, base } = node;
  const details = await relations.detailsOf(node);
  return {
    key,
    state,
    ...(descriptor && { descriptor: descriptor.name }),
    ...(lastOperation && { lastOperation }),
    ...(error && { error: error.message }),
    ...(base && { derivedFrom: base.key }),
    details: details.slice(0, SHOWN_DETAILS),
    detailCount: details.length,
  };
}
