import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Value from 'typebox/value';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { signToken } from '#infra/http/authentication/token.ts';
import { TokenUsers } from '#infra/http/authentication/token-users.ts';
import { HttpConfigError } from '#infra/http/certificate.ts';
import { type HttpConfig, httpSchema } from '#infra/http/config.ts';
import { json, type Route } from '#infra/http/route.ts';
import { type HttpServer, startHttpServer } from '#infra/http/server.ts';
import { silentLogger } from '#infra/log/log.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { basic, bearer, call } from './client.ts';

const KEY = 'a key of the tests, which is long enough';
const HOUR = 3_600_000;
/** Of `secret word`. */
const HASH = '$2b$04$AVxmLIlbHFziNmArT4SQHO0UaB.rwmii.A7nhgG2R5Jb8GuwD2xxm';

const users = [
  { name: 'root', password: 'r', permissions: ['admin'] },
  { name: 'reader', password: HASH, permissions: ['read'] },
  { name: 'old', password_hash: HASH.replace('$2b$', '$2y$'), permissions: ['telemetry'] },
  { name: 'guest', password: 'n' },
];

function config(values: object = {}): HttpConfig {
  const folder = temporaryFolder('tokens');
  return Value.Default(httpSchema, {
    endpoint: '127.0.0.1:0',
    'local-socket': join(folder, 'agent.sock'),
    'enable-token-auth': true,
    'sign-key': KEY,
    users: structuredClone(users),
    ...values,
  }) as HttpConfig;
}

async function passing<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isDone = false;
  void promise.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return promise;
}

describe('users with tokens', () => {
  it('log in with their password, as text or hash', async () => {
    const known = new TokenUsers(config(), systemClock);
    for (const [name, password, isKnown] of [
      ['root', 'r', true],
      ['root', 'R', false],
      ['root', '', false],
      ['reader', 'secret word', true],
      ['reader', 'secret', false],
      ['reader', HASH, false],
      ['old', 'secret word', true],
      ['old', 'secret', false],
      ['admin', 'ligato123', false],
      ['other', 'r', false],
      ['__proto__', 'r', false],
    ] as const) {
      const token = await known.login(name, password, 'a');
      assert.equal(token !== undefined, isKnown, `${name}:${password}`);
      const user = token === undefined ? undefined : known.userOf(token);
      if (isKnown) assert.equal(typeof user === 'object' && user.name, name);
    }
  });

  it('are let in until the token expires', async () => {
    const clock = new ManualClock();
    const known = new TokenUsers(config({ 'token-expiration': '10m' }), clock);
    await clock.advance(1);
    const token = (await passing(clock, known.login('root', 'r', 'a')))!;
    await clock.advance(10 * 60_000 - 1);
    assert.equal(typeof known.userOf(token), 'object');
    await clock.advance(1);
    assert.equal(known.userOf(token), 'auth: token has expired');
  });

  it('have tokens of one hour by default, and with the expiration 0', async () => {
    for (const values of [{}, { 'token-expiration': 0 }])
      assert.equal(new TokenUsers(config(values), systemClock).validMs, HOUR);
  });

  it('are not let in with a token that a logout or a restart has ended', async () => {
    const clock = new ManualClock();
    const known = new TokenUsers(config(), clock);
    const next = async () => {
      await clock.advance(1);
      return (await passing(clock, known.login('root', 'r', 'a')))!;
    };
    const [first, second] = [await next(), await next()];
    assert.ok(known.logout('root'));
    const third = await next();
    for (const token of [first, second])
      assert.equal(known.userOf(token), 'auth: user has logged out');
    assert.equal(typeof known.userOf(third), 'object', 'a new login does not revive older tokens');
    const restarted = new TokenUsers(config(), clock);
    assert.equal(restarted.userOf(third), 'auth: user has logged out');
  });

  it('are not let in with a token that they have made themselves', () => {
    const clock = new ManualClock();
    const known = new TokenUsers(config(), clock);
    const now = clock.now() + 1;
    const good = signToken(KEY, 'guest', now, HOUR);
    assert.equal(typeof known.userOf(good), 'object');
    const [header = '', payload = '', signature = ''] = good.split('.');
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const forged = encoded({ ...claims, aud: 'root' });
    const signed = (text: string, algorithm = 'sha256') =>
      `${text}.${createHmac(algorithm, KEY).update(text).digest('base64url')}`;
    for (const [title, token] of Object.entries({
      empty: '',
      'without signature': `${header}.${payload}.`,
      'another user': `${header}.${forged}.${signature}`,
      'algorithm none': `${encoded({ alg: 'none', typ: 'JWT' })}.${forged}.`,
      'another algorithm': signed(`${encoded({ alg: 'HS512', typ: 'JWT' })}.${payload}`, 'sha512'),
      'another key': signToken('secret', 'root', now, HOUR),
      'the default key of the original': signToken('secret', 'admin', now, 1e15),
      'an unknown user': signToken(KEY, 'other', now, HOUR),
      'another issuer': signed(`${header}.${encoded({ ...claims, iss: 'x' })}`),
      'more parts': `${good}.${signature}`,
      'a part of the signature': good.slice(0, -4),
      'no token': 'a b c',
    }))
      assert.equal(known.userOf(token), 'auth: invalid auth token', title);
  });

  it('are refused at the start if the configuration protects nothing', () => {
    for (const [values, text] of [
      [{ users: [] }, /requires users: there is no default/],
      [{ 'sign-key': '' }, /requires sign-key: there is no default/],
      [{ 'sign-key': 'secret' }, /at least 32 bytes/],
      [{ users: [{ name: 'a', permissions: [] }] }, /users: a: requires either password/],
      [
        { users: [{ name: 'a', password: 'a', password_hash: HASH }] },
        /users: a: requires either password/,
      ],
      [{ users: [users[0], users[0]] }, /users: root: this user is given twice/],
      [
        { users: [{ name: 'a', password: HASH.replace('$04$', '$15$') }] },
        /users: a: the hash of the password has cost 15/,
      ],
    ] as const)
      assert.throws(
        () => new TokenUsers(config(values), systemClock),
        (error: Error) => error instanceof HttpConfigError && text.test(error.message),
        String(text),
      );
    const key = { 'sign-key': '', 'token-signature': KEY };
    assert.ok(new TokenUsers(config(key), systemClock));
  });
});

const routes: Route[] = (['GET', 'PUT'] as const).map((method) => ({
  method,
  path: '/state',
  mutating: method === 'PUT',
  summary: '',
  handle: ({ user }) => json({ user }),
}));

describe('an endpoint with token authentication', () => {
  let server: HttpServer;
  before(async () => {
    const values = { 'open-mutating-routes': true, 'client-basic-auth': ['u:p'] };
    server = await startHttpServer(config(values), routes, systemClock, silentLogger);
  });
  after(() => server?.close());

  const send = (path: string, headers = {}, method = 'GET', body?: string) =>
    call({ port: server.port, path, method, headers, ...(body !== undefined && { body }) });
  const JSON_TYPE = { 'content-type': 'application/json' };
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
  const login = async (username: string, password: string) => {
    const body = JSON.stringify({ username, password });
    return send('/auth/login', JSON_TYPE, 'POST', body);
  };

  it('lets in users with their token, and names them in the reply', async () => {
    const { status, text: token } = await login('root', 'r');
    assert.equal(status, 200);
    const { headers, text } = await send('/state', bearer(token));
    assert.equal(headers['x-ligato-auth-username'], 'root');
    assert.deepEqual(JSON.parse(text), { user: 'root' });
  });

  it('refuses everything else', async () => {
    for (const headers of [{}, basic('u', 'p'), basic('root', 'r'), bearer('x'), bearer('')]) {
      const { status, headers: replied } = await send('/state', headers);
      assert.deepEqual([status, replied['www-authenticate']], [401, 'Bearer']);
    }
    assert.deepEqual(await login('root', 'x').then(({ status }) => status), 401);
    for (const body of ['', '{}', '{"username":"root"}', '{"username":1,"password":2}', '[]'])
      assert.equal((await send('/auth/login', JSON_TYPE, 'POST', body)).status, 400, body);
  });

  it('lets users call the routes of their groups only', async () => {
    for (const [user, password, get, put] of [
      ['root', 'r', 200, 200],
      ['reader', 'secret word', 200, 403],
      ['old', 'secret word', 403, 403],
      ['guest', 'n', 403, 403],
    ] as const) {
      const headers = bearer((await login(user, password)).text);
      assert.equal((await send('/state', headers)).status, get, user);
      assert.equal((await send('/state', headers, 'PUT')).status, put, user);
      assert.equal((await send('/none', headers)).status, user === 'root' ? 404 : 403, user);
    }
  });

  it('sets the token of a browser as a cookie, which is not sent to other sites', async () => {
    const page = await send('/auth/login');
    assert.equal(page.status, 200);
    assert.match(page.text, /<form method="post" action="authenticate">/);
    const wrong = await send('/auth/authenticate', FORM, 'POST', 'username=root&password=x');
    assert.equal(wrong.status, 401);
    const right = await send('/auth/authenticate', FORM, 'POST', 'username=root&password=r');
    assert.deepEqual([right.status, right.headers.location], [301, '../']);
    const [cookie = ''] = right.headers['set-cookie'] ?? [];
    assert.match(cookie, /; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/);
    const [pair = ''] = cookie.split(';');
    assert.equal((await send('/state', { cookie: `a=b; ${pair}` })).status, 200);
    assert.equal((await send('/state', { cookie: `${pair}x` })).status, 401);
    const other = { cookie: pair, origin: 'http://evil.example' };
    assert.equal((await send('/state', other, 'PUT')).status, 403);
    const own = { cookie: pair, origin: `http://127.0.0.1:${server.port}` };
    assert.equal((await send('/state', own, 'PUT')).status, 200);
    assert.equal((await send('/state', { ...own, ...FORM }, 'PUT', 'a=1')).status, 415);
  });

  it('ends the tokens of a user with his logout, and of no other', async () => {
    const [root, guest] = [(await login('root', 'r')).text, (await login('guest', 'n')).text];
    const logout = (headers: object, username: string) =>
      send('/auth/logout', { ...JSON_TYPE, ...headers }, 'POST', JSON.stringify({ username }));
    assert.equal((await logout({}, 'root')).status, 401);
    assert.equal((await logout(bearer(guest), 'root')).status, 403);
    assert.equal((await send('/state', bearer(root))).status, 200);
    assert.equal((await logout(bearer(root), 'root')).status, 200);
    assert.equal((await send('/state', bearer(root))).status, 401);
    assert.equal((await send('/state', bearer(guest))).status, 403);
  });
});

describe('an endpoint without token authentication', () => {
  it('is not started with users', async () => {
    const off = config({ 'enable-token-auth': false });
    await assert.rejects(
      startHttpServer(off, routes, systemClock, silentLogger),
      /users requires enable-token-auth: true/,
    );
  });
});
