/**
 * A REST route as its owner declares it; the server binds it. Query arguments arrive as Go's
 * net/http gives them: a name to all its values.
 */
import { defineError } from '../errors/errors.ts';

export interface RouteRequest {
  /** Each argument with its values, in order. */
  readonly query: Readonly<Record<string, readonly string[]>>;
  /** Parts of the path that the route names with a colon. */
  readonly params: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined when there was none. */
  readonly body: unknown;
}

export interface RouteResponse {
  readonly status: number;
  /** JSON data, or text when `contentType` says so. */
  readonly body: unknown;
  readonly contentType?: string;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `/scheduler/dump`, `/log/:logger/:level`. */
  readonly path: string;
  /**
   * Changes something: answers on the local unix socket only, unless the configuration opens it
   * with credentials, because the agent listens in the network of the host and pods reach that.
   */
  readonly mutating: boolean;
  /** One line for the table of routes. */
  readonly summary: string;
  handle(request: RouteRequest): RouteResponse | Promise<RouteResponse>;
}

export function json(body: unknown, status = 200): RouteResponse {
  return { status, body };
}

/** The shape in which the Go agent reports an error. */
export function failure(status: number, text: string): RouteResponse {
  return { status, body: { Error: text } };
}

/** A request that makes no sense: answered with 400 and a text that says what is accepted. */
export const BadRequestError = defineError({
  name: 'BadRequestError',
  code: 'CV_HTTP_BAD_REQUEST',
  remedy: 'The text says which argument is wrong and what is accepted.',
});

/** First value of an argument; undefined when it is absent. */
export function argument(request: RouteRequest, name: string): string | undefined {
  return request.query[name]?.[0];
}

/** @throws BadRequestError unless the argument is absent or a whole number of at least 0 */
export function integerArgument(request: RouteRequest, name: string): number | undefined {
  const text = argument(request, name);
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,16}$/.test(text))
    throw new BadRequestError(`argument ${name}="${text}" has to be a whole number of at least 0`);
  return Number(text);
}
