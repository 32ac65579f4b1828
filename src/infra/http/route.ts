/**
 * A REST route: a component declares it, and the server binds it. Query arguments have the form of
 * Go's net/http: each name has a list of values.
 *
 * The schemas of arguments, body and reply are what the OpenAPI document shows. They describe what the
 * handler accepts; the handler checks it, because its errors name the accepted values.
 */
import type { TSchema } from 'typebox';
import { defineError, errorText, traitsOf } from '../errors/errors.ts';

/** Permission groups of routes with private data. */
export type PermissionGroup = 'flows';

export interface RouteRequest {
  /** Each argument with its values, in order. */
  readonly query: Readonly<Record<string, readonly string[]>>;
  /** Path segments that the route names with a colon. */
  readonly params: Readonly<Record<string, string>>;
  /** Parsed JSON, or the fields of a form; undefined for an empty body. */
  readonly body: unknown;
  /** Address of the client; empty on the unix socket. */
  readonly address?: string;
  /** Name of the user that has identified himself. */
  readonly user?: string;
  /** Header with the credentials of the client: for requests to other agents in its name, and for nothing else. */
  readonly authorization?: string | undefined;
  /** Content types that the client asks for. */
  readonly accept?: string | undefined;
  /** Content encodings that the client understands. */
  readonly acceptEncoding?: string | undefined;
}

export interface RouteResponse {
  readonly status: number;
  /** JSON data, or text when `contentType` says so. */
  readonly body: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface QueryArgument {
  readonly description: string;
  /** Accepted values; absent: any text. */
  readonly choices?: readonly string[];
  readonly isRequired?: true;
  /** Whether it may be given more than once. */
  readonly isRepeatable?: true;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `/scheduler/dump`, `/log/:logger/:level`. */
  readonly path: string;
  /**
   * Whether the route changes state. A mutating route is served on the local unix socket only, unless
   * the configuration opens it with credentials: pods can reach the endpoint, because the agent
   * listens in the network of the host.
   */
  readonly mutating: boolean;
  /** A probe of kubelet: it needs no credentials and waits for no other request. */
  readonly isProbe?: true;
  /** A login: it needs no user yet. */
  readonly isLogin?: true;
  /** Contains nothing of the node: it needs no user. */
  readonly isPublic?: true;
  /** Its reply waits for events or for other nodes: others are handled beside it. It limits the number of its clients. */
  readonly isStream?: true;
  /**
   * Its data are private: only users with this permission group, or `admin`, may call it. On the port it is served where
   * clients have to identify themselves, or where pods cannot reach it: on a loopback address.
   */
  readonly permission?: PermissionGroup;
  /** Whether the body may be a form instead of JSON. */
  readonly acceptsForm?: true;
  /** One line for the table of routes. */
  readonly summary: string;
  /** Query arguments by name. */
  readonly query?: Readonly<Record<string, QueryArgument>>;
  /** JSON body. */
  readonly body?: TSchema;
  /** JSON of a reply with status 200; absent: any JSON. */
  readonly reply?: TSchema;
  /** Content types of a reply with status 200; absent: JSON. */
  readonly replyTypes?: readonly string[];
  handle(request: RouteRequest): RouteResponse | Promise<RouteResponse>;
}

export function json(body: unknown, status = 200): RouteResponse {
  return { status, body };
}

/** The shape in which the Go agent reports an error. */
export function failure(status: number, text: string): RouteResponse {
  return { status, body: { Error: text } };
}

/** The reply of a route. What its handler throws is a reply, too: the status is a trait of the error. */
export async function answer(route: Route, request: RouteRequest): Promise<RouteResponse> {
  try {
    return await route.handle(request);
  } catch (thrown) {
    return failureOf(thrown);
  }
}

export function failureOf(thrown: unknown): RouteResponse {
  return failure(traitsOf(thrown).status ?? 500, errorText(thrown));
}

/** The error describes the accepted values. */
export const BadRequestError = defineError({
  name: 'BadRequestError',
  code: 'CV_HTTP_BAD_REQUEST',
  status: 400,
  remedy: 'Correct the argument that the error names; the error describes the accepted values.',
});

/** The object that the path or an argument names is unknown. */
export const NotFoundError = defineError({
  name: 'NotFoundError',
  code: 'CV_HTTP_NOT_FOUND',
  status: 404,
  remedy: 'Correct the name or number, or ask another node: the error says what is unknown.',
});

/** Requests that need the same are being answered. */
export const BusyError = defineError({
  name: 'BusyError',
  code: 'CV_HTTP_BUSY',
  status: 503,
  isRetriable: true,
  remedy: 'Repeat the request when the others are answered.',
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
