/**
 * Everything in docs/, config/ and the Helm chart that is generated from the source. In a document of docs/ a
 * generated part is between `<!-- made: name -->` and `<!-- end -->`; the rest is hand-written.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHART } from '../deploy/chart.ts';
import { valuesSchema } from '../deploy/values-schema.ts';
import { addressReasonTable } from './address-reasons.ts';
import { componentTable } from './components.ts';
import {
  configDocuments,
  configFileText,
  configPath,
  configTables,
  originalKeyTable,
} from './config.ts';
import { errorTable, statusTable } from './errors.ts';
import { eventTable } from './events.ts';
import { folderTable } from './folders.ts';
import { metricTable } from './metrics.ts';
import { documentTable } from './rest-documents.ts';
import { retvalTable } from './retvals.ts';
import { routeTable } from './routes.ts';
import { socketMapTable } from './socket-maps.ts';

export interface Document {
  readonly path: string;
  /** Generated text; undefined: the file must not exist. */
  readonly text: string | undefined;
}

export async function documents(): Promise<Document[]> {
  const schemas = await configDocuments();
  const made: [path: string, name: string, render: (old: string) => string][] = [
    ['docs/architecture.md', 'folders', folderTable],
    ['docs/errors.md', 'errors', errorTable],
    ['docs/errors.md', 'return values of VPP', retvalTable],
    ['docs/events.md', 'events', eventTable],
    ['docs/metrics.md', 'metrics', () => metricTable('/metrics')],
    ['docs/metrics.md', 'statistics', () => metricTable('/stats')],
    ['docs/networking.md', 'address reasons', addressReasonTable],
    ['docs/services.md', 'socket maps', socketMapTable],
    ['docs/status.md', 'components', componentTable],
    ['docs/rest.md', 'statuses', statusTable],
    ['docs/rest.md', 'routes', routeTable],
    ['docs/rest.md', 'documents', await documentTable()],
    ['docs/configuration.md', 'files', () => configTables(schemas)],
    ['docs/configuration.md', 'keys of the original', originalKeyTable],
  ];
  const texts = new Map<string, string>();
  for (const [path, name, render] of made) {
    const text = texts.get(path) ?? readFileSync(path, 'utf8');
    texts.set(path, replacePart(text, path, name, render));
  }
  const files = schemas.map((schema) => ({
    path: configPath(schema),
    text: configFileText(schema),
  }));
  const paths = new Set(files.map(({ path }) => path));
  const orphans = globSync('config/*.conf').filter((path) => !paths.has(path));
  return [
    ...[...texts].map(([path, text]) => ({ path, text })),
    ...files,
    {
      path: join(CHART, 'values.schema.json'),
      text: `${JSON.stringify(valuesSchema(schemas), undefined, 2)}\n`,
    },
    ...orphans.map((path) => ({ path, text: undefined })),
  ];
}

/** The made part of a document as it is written there; empty when it has none of that name. */
export function partOf(text: string, name: string): string {
  return partPattern(name).exec(text)?.[2]?.trim() ?? '';
}

function partPattern(name: string): RegExp {
  return new RegExp(`(<!-- made: ${name} -->\\n)([^]*?)(<!-- end -->)`);
}

function replacePart(
  text: string,
  path: string,
  name: string,
  render: (old: string) => string,
): string {
  const pattern = partPattern(name);
  if (!pattern.test(text)) throw new Error(`${path} has no part <!-- made: ${name} -->`);
  return text.replace(
    pattern,
    (_, start: string, old: string, end: string) => `${start}\n${render(old)}\n\n${end}`,
  );
}

export function isCurrent({ path, text }: Document): boolean {
  const found = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  return found === text;
}
