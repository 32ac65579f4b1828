/** Which routes the users of a permission group may call; the names are those of the original. */
import type { Route } from '../route.ts';

/** Its users may call every route. */
const ADMIN = 'admin';
/** Its users may call every route that changes nothing, without those that have a permission group. */
const READ = 'read';

/** Paths whose GET a group permits. */
const groups: Readonly<Record<string, readonly string[]>> = {
  info: ['/', '/openapi', '/openapi.json'],
  stats: ['/', '/stats/configurator'],
  telemetry: [
    '/',
    '/metrics',
    '/stats',
    '/vpp/telemetry',
    '/vpp/telemetry/memory',
    '/vpp/telemetry/nodecount',
    '/vpp/telemetry/runtime',
  ],
  dump: ['/', '/dump/'],
  // with the routes that name it
  flows: ['/'],
  // The routes of these groups of the original do not exist.
  nbConfigRead: ['/'],
  nbConfigValidation: ['/'],
  nbConfigWrite: [],
};

/** Paths that every user may call. */
const everyUser: readonly string[] = ['/auth/logout'];

export const groupNames: readonly string[] = [ADMIN, READ, ...Object.keys(groups)];

/** @param route undefined when no route has the path and method of the request */
export function isPermitted(
  permissions: readonly string[],
  route: Pick<Route, 'method' | 'path' | 'mutating' | 'permission'> | undefined,
): boolean {
  if (permissions.includes(ADMIN)) return true;
  if (!route) return false;
  if (everyUser.includes(route.path)) return true;
  if (route.permission !== undefined) return permissions.includes(route.permission);
  if (permissions.includes(READ) && !route.mutating) return true;
  return (
    route.method === 'GET' &&
    permissions.some((name) => groups[name]?.some((path) => covers(path, route.path)))
  );
}

/** A path that ends with a slash covers those below it. */
function covers(path: string, routePath: string): boolean {
  return (
    path === routePath || (path.length > 1 && path.endsWith('/') && routePath.startsWith(path))
  );
}
