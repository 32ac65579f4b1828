/** Calls the scheduler's routes without a server. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { Clock } from '#infra/clock/clock.ts';
import { answer } from '#infra/http/route.ts';
import type { ParseValue } from '#kvscheduler/rest/plan.ts';
import { schedulerRoutes } from '#kvscheduler/rest/scheduler-routes.ts';
import type { OwnersOf } from '#kvscheduler/rest/single-value.ts';
import type { EncodeOriginal } from '#kvscheduler/rest/values.ts';
import { type Bench, setUp } from './setup.ts';

export interface Answer {
  readonly status: number;
  /** Of the error, or of the whole reply. */
  readonly text: string;
  /** Parsed, if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read documents of many shapes
  readonly body: any;
}

/** The values of these tests are in no model. */
const encodeOriginal: EncodeOriginal = (_type, _value, metadata) => ({
  value: undefined,
  metadata,
});

const anyObject: ParseValue = (_type, json) => json as object;

export type Ask = (call: string, body?: unknown) => Promise<Answer>;

/** @returns takes `GET /scheduler/dump?descriptor=alpha` */
export function restOf(
  { scheduler, clock }: Pick<Bench, 'scheduler'> & { readonly clock: Clock },
  parseValue: ParseValue = anyObject,
  ownersOf: OwnersOf = () => [],
): Ask {
  const routes = schedulerRoutes({ scheduler, clock, parseValue, encodeOriginal, ownersOf });
  return async (call, body) => {
    const [method, address = ''] = call.split(' ');
    const { pathname, searchParams } = new URL(address, 'http://agent');
    const route = routes.find((one) => one.method === method && one.path === pathname);
    assert.ok(route, call);
    const query: Record<string, string[]> = Object.create(null);
    for (const [name, value] of searchParams) query[name] = [...(query[name] ?? []), value];
    const response = await answer(route, { query, params: {}, body });
    const { contentType = 'application/json' } = response;
    const isStream = response.body instanceof Readable;
    let text = isStream ? '' : String(response.body);
    if (isStream) for await (const chunk of response.body) text += chunk;
    const isJson = contentType.startsWith('application/json');
    const sent = isStream ? text : JSON.stringify(response.body);
    const parsed = isJson ? JSON.parse(sent) : undefined;
    return { status: response.status, text: parsed?.Error ?? text, body: parsed };
  };
}

/** Two transactions a minute apart: a value with a derived one, a value without, and a pending one. */
export async function makeBench(): Promise<Bench> {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } }, 'b/1': { v: 2 } });
  await bench.clock.advance(60_000);
  await bench.commit({ 'a/2': { v: 1, needs: ['b/9'] } });
  return bench;
}
