/** Routes of the original for users with a token: login, login in a browser, logout. */
import { Type } from 'typebox';
import { TOKEN_COOKIE } from '../openapi.ts';
import { NotFoundError, type Route, type RouteRequest, type RouteResponse } from '../route.ts';
import { type FailedAttempts, TOO_MANY_FAILURES } from './failed-attempts.ts';
import type { TokenUsers } from './token-users.ts';

const TEXT = 'text/plain; charset=utf-8';

const PAGE = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Login</title></head>
<body>
<h1>Login</h1>
<form method="post" action="authenticate">
<p><label>Username <input name="username" autocomplete="username"></label></p>
<p><label>Password <input type="password" name="password" autocomplete="current-password"></label></p>
<p><button>Login</button></p>
</form>
</body>
</html>
`;
const PAGE_POLICY =
  "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const credentials = Type.Object({ username: Type.String(), password: Type.String() });

export interface LoginDeps {
  /** undefined: enable-token-auth is false. */
  readonly users: TokenUsers | undefined;
  /** Whether the endpoint serves HTTPS. */
  readonly isSecure: boolean;
  readonly failures: FailedAttempts;
}

export function loginRoutes(deps: LoginDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/auth/login',
      mutating: false,
      isLogin: true,
      summary: 'page for the login in a browser',
      replyTypes: ['text/html'],
      handle() {
        if (!deps.users) throw new NotFoundError(NO_LOGINS);
        return {
          status: 200,
          body: PAGE,
          contentType: 'text/html; charset=utf-8',
          headers: { 'Content-Security-Policy': PAGE_POLICY },
        };
      },
    },
    {
      method: 'POST',
      path: '/auth/login',
      mutating: false,
      isLogin: true,
      summary: 'the token of a user, for the header Authorization: Bearer',
      body: credentials,
      replyTypes: ['text/plain'],
      handle: (request) => login(deps, request, tokenReply),
    },
    {
      method: 'POST',
      path: '/auth/authenticate',
      mutating: false,
      isLogin: true,
      acceptsForm: true,
      summary: 'login in a browser: sets the token as a cookie, status 301',
      body: credentials,
      handle: (request) => login(deps, request, (token) => cookieReply(deps, token)),
    },
    {
      method: 'POST',
      path: '/auth/logout',
      mutating: false,
      summary: 'end all tokens of the user who calls it',
      body: Type.Object({ username: Type.Optional(Type.String()) }),
      replyTypes: ['text/plain'],
      handle: (request) => logout(deps, request),
    },
  ];
}

const NO_LOGINS = 'there are no logins: enable-token-auth is false';

async function login(
  { users, failures }: LoginDeps,
  { body, address = '' }: RouteRequest,
  reply: (token: string) => RouteResponse,
): Promise<RouteResponse> {
  if (!users) throw new NotFoundError(NO_LOGINS);
  const { username, password } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof username !== 'string' || typeof password !== 'string')
    return text(400, 'the body has to be {"username": "…", "password": "…"}');
  if (failures.isBlocked(address)) return text(429, TOO_MANY_FAILURES.trim());
  const token = await users.login(username, password, address);
  if (token !== undefined) return reply(token);
  await failures.delay(address);
  return text(401, 'auth: invalid username or password');
}

function tokenReply(token: string): RouteResponse {
  return { status: 200, body: token, contentType: TEXT };
}

/** As in the original, the browser continues with the list of routes: relative, as a proxy may put a path before it. */
function cookieReply({ users, isSecure }: LoginDeps, token: string): RouteResponse {
  const maxAge = Math.floor(users!.validMs / 1_000);
  const flags = `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  const headers = {
    'Set-Cookie': `${TOKEN_COOKIE}=${token}; Path=/; Max-Age=${maxAge}; ${flags}`,
    Location: '../',
  };
  return { ...text(301, ''), headers };
}

/** In the original everyone can log out everyone. */
function logout({ users }: LoginDeps, { body, user }: RouteRequest): RouteResponse {
  if (!users) throw new NotFoundError(NO_LOGINS);
  const { username = user } = (body ?? {}) as Readonly<Record<string, unknown>>;
  // Callers on the unix socket have no name, and everything is permitted to them.
  if (typeof username !== 'string' || (user !== undefined && user !== username))
    return text(403, 'auth: permission denied');
  return users.logout(username) ? text(200, '') : text(404, `no user ${username}`);
}

function text(status: number, body: string): RouteResponse {
  return { status, body: `${body}\n`, contentType: TEXT };
}
