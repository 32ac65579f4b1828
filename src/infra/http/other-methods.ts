import type { FastifyInstance } from 'fastify';
import { send } from './reply.ts';
import { failure, type Route } from './route.ts';

interface Path {
  /** As declared: `/pods/:name`. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly allowed: string;
}

/**
 * Answers another method on the path of a route with the methods that the path has. Without routes for
 * them: those would be six for each path, which the router compiles at each start.
 */
export function refuseOtherMethods(server: FastifyInstance, routes: readonly Route[]): void {
  const paths = [...Map.groupBy(routes, ({ path }) => path)].map(([path, own]): Path => {
    const declared: string[] = own.map(({ method }) => method);
    if (declared.includes('GET')) declared.push('HEAD');
    return { path, segments: path.split('/'), allowed: declared.sort().join(', ') };
  });
  // Before the body is read: its form does not matter.
  server.addHook('onRequest', (request, reply, done) => {
    const found = request.is404 && paths.find(({ segments }) => isPath(segments, request.url));
    if (!found) return done();
    const { path, allowed } = found;
    const text = `${path} has no method ${request.method}, only ${allowed}`;
    void send(reply.header('Allow', allowed), failure(405, text));
  });
}

/** As the router: a parameter at the end of a path may be empty. */
function isPath(declared: readonly string[], url: string): boolean {
  const segments = pathOf(url).split('/');
  return (
    segments.length === declared.length &&
    declared.every((name, at) => name.startsWith(':') || segments[at] === name)
  );
}

/** The path as the router sees it: decoded, but for slashes. The router has refused invalid URLs. */
function pathOf(url: string): string {
  const path = url.replace(/^[^/]+:\/\/[^/?#]*/, '').split(/[?#]/, 1)[0] as string;
  return decodeURI(path.replace(/\/{2,}/g, '/'));
}
