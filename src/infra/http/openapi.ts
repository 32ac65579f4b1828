/** The OpenAPI document of the REST server, made from the declarations of its routes. */
import { type TSchema, Type } from 'typebox';
import type { QueryArgument, Route } from './route.ts';

export type OpenApiDocument = ReturnType<typeof openApiDocument>;

export type OpenApiOperation = ReturnType<typeof operation>;

interface OpenApiParameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: TSchema;
}

/** Names of schemes that are needed together. */
type Security = Readonly<Record<string, readonly string[]>>;

/** How clients of the endpoint identify themselves. */
export interface SecuritySchemes {
  readonly basic: boolean;
  readonly token: boolean;
  readonly certificate: boolean;
}

/** Cookie with the token of a browser, as in the original. */
export const TOKEN_COOKIE = 'ligato-rest-auth';
const JSON_TYPE = 'application/json';
const ERROR = { $ref: '#/components/responses/Error' } as const;

export function openApiDocument(routes: readonly Route[], security: SecuritySchemes) {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  const sorted = Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    openapi: '3.1.1',
    info: {
      title: 'contiv-agent',
      summary: 'REST server of the agent of Contiv/VPP',
      version: '1',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: alternatives(security),
    paths: Object.fromEntries(sorted),
    components: {
      securitySchemes: schemesOf(security),
      responses: {
        Error: {
          description: 'What failed, and why; text when the client is not let in.',
          content: {
            [JSON_TYPE]: { schema: Type.Object({ Error: Type.String() }) },
            'text/plain': { schema: Type.String() },
          },
        },
      },
    },
  };
}

function schemesOf({ basic, token, certificate }: SecuritySchemes) {
  return {
    ...(basic && { basicAuth: { type: 'http', scheme: 'basic' } }),
    ...(token && {
      bearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      cookieAuth: { type: 'apiKey', in: 'cookie', name: TOKEN_COOKIE },
    }),
    ...(certificate && { clientCertificate: { type: 'mutualTLS' } }),
  };
}

/** One of them is enough; an empty list when the endpoint needs none. */
function alternatives({ basic, token, certificate }: SecuritySchemes): Security[] {
  const always: Security = certificate ? { clientCertificate: [] } : {};
  if (token)
    return [
      { ...always, bearerAuth: [] },
      { ...always, cookieAuth: [] },
    ];
  if (basic) return [{ ...always, basicAuth: [] }];
  return certificate ? [always] : [];
}

/** First segment of the path. */
function tagOf({ path }: Route): string {
  return path.split('/')[1] || 'index';
}

function operation(route: Route) {
  const { method, path, summary, mutating, query = {}, body } = route;
  const segments = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const named = path.split(/[^A-Za-z0-9]+/).filter((part) => part !== '');
  return {
    operationId: [method.toLowerCase(), ...named].join('-'),
    summary,
    tags: [tagOf(route)],
    'x-mutating': mutating,
    parameters: [
      ...segments.map(pathParameter),
      ...Object.entries(query).map(([name, argument]) => queryParameter(name, argument)),
    ],
    ...(body && { requestBody: { content: { [JSON_TYPE]: { schema: body } } } }),
    responses: { 200: replyOf(route), '4XX': ERROR, '5XX': ERROR },
    ...((route.isProbe || route.isPublic) && { security: [] }),
  };
}

function pathParameter(name: string): OpenApiParameter {
  return { name, in: 'path', required: true, schema: Type.String() };
}

function queryParameter(name: string, argument: QueryArgument): OpenApiParameter {
  const { description, choices, isRequired = false, isRepeatable } = argument;
  const text = Type.String(choices && { enum: [...choices] });
  const schema = isRepeatable ? Type.Array(text) : text;
  return { name, in: 'query', required: isRequired, description, schema };
}

function replyOf({ reply = Type.Unknown(), replyTypes = [JSON_TYPE] }: Route) {
  const schemas = replyTypes.map((type): [string, { schema: TSchema }] => [
    type,
    { schema: type === JSON_TYPE ? reply : Type.String() },
  ]);
  return { description: 'Success.', content: Object.fromEntries(schemas) };
}
