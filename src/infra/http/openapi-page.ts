/** The OpenAPI document as a page, without scripts and without requests to anywhere. */
import { createHash } from 'node:crypto';
import { escaped } from './escaped.ts';
import type { OpenApiDocument, OpenApiOperation } from './openapi.ts';

const STYLE = `
body { font: 15px/1.5 sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222 }
summary { cursor: pointer; padding: .25rem 0 }
code, pre { font: 13px/1.5 monospace; background: #f3f3f3 }
pre { padding: .5rem; overflow: auto }
b { display: inline-block; width: 4rem }
td { padding: 0 1rem .25rem 0; vertical-align: top }
small { color: #a00 }
`;

/** Of the page: its own style and nothing else. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function openApiPage({ info, paths }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = new Set(operations.flatMap(({ operation }) => operation.tags));
  const sections = [...tags].map((name) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const items = own.map(({ path, method, operation }) => item(path, method, operation));
    return `<h2>${escaped(name)}</h2>\n${items.join('\n')}`;
  });
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(info.title)}</title><style>${STYLE}</style></head>
<body>
<h1>${escaped(info.title)}</h1>
<p>${escaped(info.summary)}. The same as a document: <a href="/openapi.json">openapi.json</a>.</p>
${sections.join('\n')}
</body>
</html>
`;
}

function item(path: string, method: string, operation: OpenApiOperation): string {
  const { summary, parameters, requestBody, responses } = operation;
  const rows = parameters.map(
    ({ name, required, description = '', schema }) =>
      `<tr><td><code>${escaped(name)}</code>${required ? ' (required)' : ''}</td>` +
      `<td>${escaped([description, choicesOf(schema)].filter(Boolean).join('; '))}</td></tr>`,
  );
  return `<details>
<summary><b>${method.toUpperCase()}</b> <code>${escaped(path)}</code> ${escaped(summary)}${
    operation['x-mutating'] ? ' <small>changes state</small>' : ''
  }</summary>
${rows.length > 0 ? `<table>${rows.join('')}</table>` : ''}
${requestBody ? contents('Body', requestBody.content) : ''}
${contents('Reply', responses[200].content)}
</details>`;
}

function contents(title: string, content: Readonly<Record<string, { schema: object }>>): string {
  return Object.entries(content)
    .map(
      ([type, { schema }]) =>
        `<p>${title}: ${escaped(type)}</p>${
          Object.keys(schema).length > 0
            ? `<pre>${escaped(JSON.stringify(schema, undefined, 2))}</pre>`
            : ''
        }`,
    )
    .join('\n');
}

function choicesOf(schema: object): string {
  const { enum: choices } = schema as { readonly enum?: readonly string[] };
  return choices ? `one of ${choices.join(', ')}` : '';
}
