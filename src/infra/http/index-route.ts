/** `/`: the list of all routes, for people as a page, as JSON for a client that asks for it. */
import { escaped } from './escaped.ts';
import { json, type Route, type RouteResponse } from './route.ts';

/** @param routes of the server; asked on the first request */
export function indexRoute(routes: () => readonly Route[]): Route {
  let page: string | undefined;
  return {
    method: 'GET',
    path: '/',
    mutating: false,
    summary: 'list of all routes: a page, or JSON with Accept: application/json',
    replyTypes: ['text/html', 'application/json'],
    handle: ({ accept }) => {
      if (accept?.startsWith('application/json')) return json(routes().map(entryOf));
      page ??= pageOf(routes());
      return pageResponse(page);
    },
  };
}

function entryOf({ method, path, summary }: Route) {
  return { method, path, summary };
}

function pageResponse(body: string): RouteResponse {
  const headers = {
    'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'",
  };
  return { status: 200, body, contentType: 'text/html; charset=utf-8', headers };
}

/** As the original: a heading for each group, and a link for each document in it. */
function pageOf(routes: readonly Route[]): string {
  const sorted = [...routes].sort((a, b) => (a.path < b.path ? -1 : 1));
  const groups = Map.groupBy(sorted, ({ path }) => path.split('/')[1] ?? '');
  const sections = [...groups].map(
    ([name, own]) => `<h3>${escaped(name || 'this page')}:</h3>\n${own.map(item).join('\n')}`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Index</title></head>
<body>
<p>The state of this node, live: <a href="ui/">web page</a>.</p>
<h2>Index:</h2>
<ul>
${sections.join('\n')}
</ul>
</body>
</html>
`;
}

function item({ method, path, summary }: Route): string {
  const isDocument = method === 'GET' && !path.includes(':');
  const text = isDocument
    ? `<a href="${escaped(path)}">${escaped(path)}</a>`
    : escaped(`${method} ${path}`);
  return `<li>${text} – ${escaped(summary)}</li>`;
}
