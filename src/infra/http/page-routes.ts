/**
 * The web page at `/ui/`: files that `npm ci` has built from the folder `ui`. They contain nothing of the
 * node, so they need no user; what the page shows it requests from the other routes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { NotFoundError, type Route, type RouteRequest, type RouteResponse } from './route.ts';

/** Only files of the agent, no inline code, and requests only to the agent itself. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const INDEX = 'index.html';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface PageFile {
  readonly contentType: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

/** @param folder of the built files, each with one that ends in `.gz`; read with the first request */
export function pageRoutes(folder: string): Route[] {
  let read: ReadonlyMap<string, PageFile> | undefined;
  const answer = (name: string, request: RouteRequest): RouteResponse => {
    read ??= filesOf(folder);
    const file = read?.get(name);
    if (!read) throw new NotFoundError('the page is not built: run npm run build:ui');
    if (!file) throw new NotFoundError(`the page has no file ${name}`);
    return replyOf(name, file, request);
  };
  return [
    {
      method: 'GET',
      path: '/ui',
      mutating: false,
      isPublic: true,
      summary: 'leads to the web page, /ui/',
      replyTypes: ['text/html'],
      // Relative, because a proxy may put a path before it.
      handle: () => ({
        status: 308,
        body: '',
        contentType: 'text/plain',
        headers: { Location: 'ui/' },
      }),
    },
    {
      method: 'GET',
      path: '/ui/:file',
      mutating: false,
      isPublic: true,
      summary:
        'web page that shows the state of the node, live: /ui/ without a name, and its files',
      replyTypes: Object.values(contentTypes),
      handle: (request) => answer(request.params['file'] || INDEX, request),
    },
  ];
}

/** @returns undefined: nothing is built */
function filesOf(folder: string): ReadonlyMap<string, PageFile> | undefined {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  const files = new Map<string, PageFile>();
  for (const name of names) {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) continue;
    const plain = readFileSync(join(folder, name));
    files.set(name, { contentType, plain, gzip: readFileSync(join(folder, `${name}.gz`)) });
  }
  return files;
}

function replyOf(
  name: string,
  file: PageFile,
  { acceptEncoding = '' }: RouteRequest,
): RouteResponse {
  const isZipped = acceptEncoding.split(',').some(isGzip);
  return {
    status: 200,
    body: isZipped ? file.gzip : file.plain,
    contentType: file.contentType,
    headers: {
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      Vary: 'Accept-Encoding',
      // The names of all other files contain a hash of their content.
      'Cache-Control': name === INDEX ? 'no-cache' : 'public, max-age=31536000, immutable',
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    },
  };
}

/** The quality 0 stands for an encoding that the client does not accept. */
function isGzip(encoding: string): boolean {
  return /^\s*gzip\s*(;|$)/i.test(encoding) && !/;\s*q=0(\.0*)?\s*$/i.test(encoding);
}
