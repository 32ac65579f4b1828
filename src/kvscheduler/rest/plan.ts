/** REST: the plan of a change, and what a resync would change, without executing it. */

import { Drift } from '#documents/scheduler/drift.ts';
import { Plan, PlanRequest } from '#documents/scheduler/plan.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { CodedError, errorText } from '#infra/errors/errors.ts';
import {
  BadRequestError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import type { Value } from '../api/transaction.ts';
import type { PreviewRequest } from '../planner/preview.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly } from './arguments.ts';

/**
 * Converts JSON to a canonical value.
 * @param type full protobuf name of its model
 * @throws a coded error if the model is unknown, or the value does not match the model or the key
 */
export type ParseValue = (type: string, json: unknown, key: string) => Value;

const ACCEPTED =
  'the body must be {"mode": "update" | "resync", "values": {"<key>": {"type": "<model>", "value": {…}} | null}}';

export function planRoutes(scheduler: Scheduler, clock: Clock, parseValue: ParseValue): Route[] {
  return [
    {
      method: 'POST',
      path: '/scheduler/plan',
      mutating: false,
      summary: 'the plan of a change: {"mode", "values"}; nothing is applied',
      body: PlanRequest,
      reply: Plan,
      handle: (request) => plan(scheduler, clock, parseValue, request),
    },
    {
      method: 'GET',
      path: '/scheduler/drift',
      mutating: false,
      summary:
        'what a downstream resync would change: VPP and Linux compared with the desired state',
      reply: Drift,
      handle: (request) => drift(scheduler, clock, request),
    },
  ];
}

async function drift(
  scheduler: Scheduler,
  clock: Clock,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, []);
  return streamedJson(await scheduler.drift(), clock);
}

async function plan(
  scheduler: Scheduler,
  clock: Clock,
  parseValue: ParseValue,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, []);
  const preview = await parseBody(request.body, parseValue, new Slices(clock));
  return streamedJson(await scheduler.plan(preview), clock);
}

/** @throws BadRequestError */
async function parseBody(
  body: unknown,
  parseValue: ParseValue,
  slices: Slices,
): Promise<PreviewRequest> {
  if (!isObject(body)) throw new BadRequestError(ACCEPTED);
  const { mode, values, ...others } = body;
  for (const name of Object.keys(others))
    throw new BadRequestError(`unknown field ${name}; ${ACCEPTED}`);
  if (mode !== 'update' && mode !== 'resync')
    throw new BadRequestError(`mode ${JSON.stringify(mode)} must be "update" or "resync"`);
  if (!isObject(values)) throw new BadRequestError(`values are missing; ${ACCEPTED}`);
  const parsed = new Map<string, Value | null>();
  for (const [key, entry] of Object.entries(values)) {
    if (slices.due()) await slices.turn();
    parsed.set(key, parseEntry(key, entry, parseValue));
  }
  return { mode, values: parsed };
}

function parseEntry(key: string, entry: unknown, parseValue: ParseValue): Value | null {
  if (entry === null) return null;
  if (!isObject(entry) || typeof entry['type'] !== 'string' || !isObject(entry['value']))
    throw new BadRequestError(`${key}: must be {"type": "<model>", "value": {…}} or null`);
  try {
    return parseValue(entry['type'], entry['value'], key);
  } catch (error) {
    if (error instanceof CodedError) throw new BadRequestError(errorText(error), { cause: error });
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
