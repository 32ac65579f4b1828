/** Asks the scheduler's routes without a server. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { ErrBadRequest } from '#infra/http/route.ts';
import type { ParseValue } from '#kvscheduler/routes/plan.ts';
import { schedulerRoutes } from '#kvscheduler/routes.ts';
import type { Bench } from './setup.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Parsed, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of many shapes
  readonly body: any;
}

const anyObject: ParseValue = (_type, json) => json as object;

export type Ask = (call: string, body?: unknown) => Promise<Answer>;

/** @returns takes `GET /scheduler/dump?descriptor=alpha` */
export function restOf({ scheduler, clock }: Bench, parseValue: ParseValue = anyObject): Ask {
  const routes = schedulerRoutes({ scheduler, clock, parseValue });
  return async (call, body) => {
    const [method, address = ''] = call.split(' ');
    const { pathname, searchParams } = new URL(address, 'http://agent');
    const route = routes.find((one) => one.method === method && one.path === pathname);
    assert.ok(route, call);
    const query: Record<string, string[]> = {};
    for (const [name, value] of searchParams) query[name] = [...(query[name] ?? []), value];
    try {
      const response = await route.handle({ query, params: {}, body });
      const { contentType = 'application/json' } = response;
      const isStream = response.body instanceof Readable;
      let text = isStream ? '' : String(response.body);
      if (isStream) for await (const chunk of response.body) text += chunk;
      const isJson = contentType.startsWith('application/json');
      const sent = isStream ? text : JSON.stringify(response.body);
      return { status: response.status, text, body: isJson ? JSON.parse(sent) : undefined };
    } catch (error) {
      if (!(error instanceof ErrBadRequest)) throw error;
      return { status: 400, text: error.message, body: undefined };
    }
  };
}
