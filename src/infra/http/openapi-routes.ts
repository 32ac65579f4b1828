import { Type } from 'typebox';
import { indexRoute } from './index-route.ts';
import { type OpenApiDocument, openApiDocument, type SecuritySchemes } from './openapi.ts';
import { openApiPage, pagePolicy } from './openapi-page.ts';
import { json, type Route } from './route.ts';

/** The routes of a server, with those of its OpenAPI document. */
export function withOpenApi(routes: readonly Route[], security: SecuritySchemes): Route[] {
  const own: Route[] = [
    indexRoute(() => all),
    {
      method: 'GET',
      path: '/openapi.json',
      mutating: false,
      summary: 'OpenAPI document of all routes',
      reply: Type.Object(
        { openapi: Type.String(), paths: Type.Object({}) },
        { additionalProperties: true },
      ),
      handle: () => json(document()),
    },
    {
      method: 'GET',
      path: '/openapi',
      mutating: false,
      summary: 'the OpenAPI document as a page',
      replyTypes: ['text/html'],
      handle: () => ({
        status: 200,
        body: openApiPage(document()),
        contentType: 'text/html; charset=utf-8',
        headers: { 'Content-Security-Policy': pagePolicy },
      }),
    },
  ];
  const all = [...routes, ...own];
  let made: OpenApiDocument | undefined;
  const document = () => (made ??= openApiDocument(all, security));
  return all;
}
