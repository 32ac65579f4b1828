/**
 * Every route of a running agent, tried without, with wrong and with right credentials, for each way
 * to identify oneself. The list of routes is that of the agent itself.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '#cmd/agent/settings.ts';
import { signToken } from '#infra/http/authentication/token.ts';
import type { OpenApiDocument } from '#infra/http/openapi.ts';
import { basic, bearer, type Call, call } from '#test/infra/http/authentication/client.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutOpenssl } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { until } from '#test/support/wait.ts';
import { makeNode, startAgent } from './harness.ts';

const folder = temporaryFolder('access');
const KEY = 'a key of the tests, which is long enough';

type Credentials = Pick<Call, 'headers' | 'tls'>;

interface Kind {
  readonly title: string;
  readonly http: Partial<Settings['http']>;
  readonly needsOpenssl?: true;
  /** Those that are refused, besides none at all. */
  wrong(): Record<string, Credentials>;
  right(): Record<string, Credentials>;
}

const file = (name: string) => join(folder, name);
const authority = () => ({ ca: readFileSync(file('ca.crt')) });
const tlsOf = (name: string): Credentials => ({
  tls: {
    ...authority(),
    cert: readFileSync(file(`${name}.crt`)),
    key: readFileSync(file(`${name}.key`)),
  },
});
const token = (user: string, { key = KEY, from = Date.now() + 1 } = {}) =>
  bearer(signToken(key, user, from, 3_600_000));

const server = {
  'server-cert-file': file('server.crt'),
  'server-key-file': file('server.key'),
  'open-mutating-routes': true,
};
const users = {
  'enable-token-auth': true,
  'sign-key': KEY,
  users: [{ name: 'root', password: 'r', password_hash: '', permissions: ['admin'] }],
};

const kinds: readonly Kind[] = [
  {
    title: 'basic authentication',
    http: { 'client-basic-auth': ['u:p', 'v:q'], 'open-mutating-routes': true },
    wrong: () => ({
      'a wrong password': { headers: basic('u', 'q') },
      'no password': { headers: basic('u', '') },
      'an unknown user': { headers: basic('w', 'p') },
      'another scheme': { headers: bearer('u:p') },
    }),
    right: () => ({ 'a password': { headers: basic('v', 'q') } }),
  },
  {
    title: 'tokens',
    http: { ...users, 'open-mutating-routes': true },
    wrong: () => ({
      'a password': { headers: basic('root', 'r') },
      'a token of another key': { headers: token('root', { key: 'secret' }) },
      'an expired token': { headers: token('root', { from: Date.now() - 7_200_000 }) },
      'a token of an unknown user': { headers: token('admin') },
      'a wrong cookie': { headers: { cookie: 'ligato-rest-auth=x' } },
    }),
    right: () => ({
      'a token': { headers: token('root') },
      'a cookie': {
        headers: {
          cookie: token('root')['authorization']!.replace('Bearer ', 'ligato-rest-auth='),
        },
      },
    }),
  },
  {
    title: 'client certificates',
    needsOpenssl: true,
    http: { ...server, 'client-cert-files': [file('ca.crt')] },
    wrong: () => ({
      'a certificate of another authority': tlsOf('other'),
      'a password': { tls: authority(), headers: basic('u', 'p') },
    }),
    right: () => ({ 'a certificate': tlsOf('client') }),
  },
  {
    title: 'client certificates and tokens',
    needsOpenssl: true,
    http: { ...server, ...users, 'client-cert-files': [file('ca.crt')] },
    wrong: () => ({
      'a certificate only': tlsOf('client'),
      'a token only': { tls: authority(), headers: token('root') },
      'a certificate and a wrong token': { ...tlsOf('client'), headers: token('admin') },
    }),
    right: () => ({ both: { ...tlsOf('client'), headers: token('root') } }),
  },
];

/** Served without credentials: kubelet has none. */
const probes = ['GET /liveness', 'GET /readiness'];
/** Served to clients that want to log in, with a certificate if one is needed. */
const logins = ['GET /auth/login', 'POST /auth/login', 'POST /auth/authenticate'];
/** Their files contain nothing of the node. */
const pages = ['GET /ui', 'GET /ui/file'];

async function routesOf(port: number, credentials: Credentials): Promise<string[]> {
  const { text } = await call({ port, path: '/openapi.json', ...credentials });
  const { paths } = JSON.parse(text) as OpenApiDocument;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/[{}]/g, '')}`),
  );
}

async function mutatingRoutes(port: number, credentials: Credentials): Promise<string[]> {
  const { text } = await call({ port, path: '/openapi.json', ...credentials });
  const { paths } = JSON.parse(text) as OpenApiDocument;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation['x-mutating'])
      .map(([method]) => `${method.toUpperCase()} ${path.replaceAll(/[{}]/g, '')}`),
  );
}

/** The status of every route, asked all at once. */
async function statuses(
  routes: readonly string[],
  port: number,
  credentials: Credentials,
): Promise<Map<string, number>> {
  const answers = routes.map(async (route) => {
    const [method = '', path = ''] = route.split(' ');
    for (;;) {
      const { status } = await call({ port, path, method, ...credentials });
      // too many requests at once
      if (status !== 503 || path === '/readiness') return [route, status] as const;
      await sleep(100);
    }
  });
  return new Map(await Promise.all(answers));
}

for (const { title, http, wrong, right, needsOpenssl } of kinds)
  describe(`every route with ${title}`, { skip: needsOpenssl && withoutOpenssl() }, () => {
    before(() => {
      if (!needsOpenssl) return;
      for (const name of ['ca', 'server', 'client']) makeCertificate(folder, name, 'ca');
      makeCertificate(folder, 'other', 'other');
    });

    it('is closed without and with wrong credentials, and open with the right ones', async (t) => {
      await using running = await startAgent(makeNode(), { http });
      const { port } = running.agent;
      const [known] = Object.values(right());
      const routes = await routesOf(port, known!);
      assert.ok(routes.length > 30 && routes.includes('POST /vpp/command'));
      const none: Credentials = http['server-cert-file'] ? { tls: authority() } : {};
      let refused = 0;
      for (const [credentials, given] of Object.entries({ none, ...wrong() }))
        for (const [route, status] of await statuses(routes, port, given)) {
          const needsNone =
            probes.includes(route) ||
            ([...logins, ...pages].includes(route) &&
              (!http['client-cert-files'] || isSigned(given)));
          // many wrong ones of an address are refused unseen
          const isRefused = status === 401 || (status === 429 && credentials !== 'none');
          assert.equal(isRefused, !needsNone, `${route} with ${credentials}: ${status}`);
          if (isRefused) refused++;
        }
      let accepted = 0;
      await until('right credentials are looked at again', async () => {
        const { status } = await call({ port, path: '/openapi.json', ...known! });
        return status !== 429;
      });
      // The logout is the last one: it ends the token.
      const inOrder = [...routes.filter((route) => !route.includes('logout')), 'POST /auth/logout'];
      for (const [credentials, given] of Object.entries(right()))
        for (const [route, status] of await statuses(inOrder.slice(0, -1), port, given)) {
          assert.ok(status !== 401 && status !== 403, `${route} with ${credentials}: ${status}`);
          accepted++;
        }
      t.diagnostic(`${routes.length} routes: ${refused} requests refused, ${accepted} accepted`);
    });
  });

/** Whether the client shows a certificate of the authority. */
function isSigned({ tls }: Credentials): boolean {
  return tls?.cert?.equals(readFileSync(file('client.crt'))) === true;
}

describe('every route with the permissions of a user', () => {
  it('is open to the groups that contain it, and to no other', async () => {
    const user = (name: string, ...permissions: string[]) => {
      return { name, password: 'p', password_hash: '', permissions };
    };
    const http = {
      ...users,
      'open-mutating-routes': true,
      users: [
        user('root', 'admin'),
        user('reader', 'read'),
        user('prometheus', 'telemetry'),
        user('both', 'info', 'telemetry'),
        user('watcher', 'flows'),
        user('guest'),
      ],
    };
    await using running = await startAgent(makeNode(), { http });
    const { port } = running.agent;
    const routes = await routesOf(port, { headers: token('root') });
    const mutating = await mutatingRoutes(port, { headers: token('root') });
    const flows = [
      'GET /contiv/v1/flows',
      'GET /contiv/v1/flows/events',
      'GET /contiv/v1/flows/policies',
      'GET /contiv/v1/flows/workloads',
      'POST /contiv/v1/flows/plan',
    ];
    const info = ['GET /', 'GET /openapi', 'GET /openapi.json'];
    const telemetry = [
      ...['/', '/metrics', '/stats', '/vpp/telemetry', '/vpp/telemetry/memory'],
      ...['/vpp/telemetry/nodecount', '/vpp/telemetry/runtime'],
    ].map((path) => `GET ${path}`);
    for (const [name, permitted] of Object.entries<string[]>({
      reader: routes.filter((route) => !mutating.includes(route) && !flows.includes(route)),
      watcher: ['GET /', ...flows],
      prometheus: telemetry,
      both: [...info, ...telemetry],
      guest: [],
    })) {
      const always = [...probes, ...logins, ...pages];
      const asked = routes.filter((route) => route !== 'POST /auth/logout');
      for (const [route, status] of await statuses(asked, port, { headers: token(name) }))
        assert.equal(
          status === 403,
          !permitted.includes(route) && !always.includes(route),
          `${route} as ${name}: ${status}`,
        );
    }
  });
});

describe('every route without any protection', () => {
  it('is open, but for those that change something', async () => {
    await using running = await startAgent(makeNode());
    const { port } = running.agent;
    const mutating = await mutatingRoutes(port, {});
    assert.ok(mutating.includes('POST /vpp/command'));
    const routes = await routesOf(port, {});
    for (const [route, status] of await statuses(routes, port, {}))
      assert.equal(status === 403, mutating.includes(route), `${route}: ${status}`);
  });
});
