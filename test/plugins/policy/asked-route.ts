/** A route, asked as the REST server asks it. */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { answer, type Route, type RouteRequest, type RouteResponse } from '#infra/http/route.ts';

/** @param route method and path as the route declares them */
export async function ask(
  routes: readonly Route[],
  route: string,
  request: Partial<RouteRequest> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const found = routes.find(({ method, path }) => `${method} ${path}` === route);
  if (!found) throw new Error(`no route ${route}`);
  const response = await answer(found, { query: {}, params: {}, body: undefined, ...request });
  return { status: response.status, body: await bodyOf(response) };
}

async function bodyOf({ body }: RouteResponse): Promise<unknown> {
  const isStream = typeof body === 'object' && body !== null && 'pipe' in body;
  return JSON.parse(isStream ? await text(body as Readable) : JSON.stringify(body));
}
