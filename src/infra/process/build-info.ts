import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildInfo } from '../status/status.ts';

/** Version of the package; date and commit of the image, when the program runs from one. */
export function buildInfo(env: Readonly<Record<string, string | undefined>>): BuildInfo {
  const file = join(import.meta.dirname, '../../../package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return {
    version: `v${version}`,
    date: env['BUILD_DATE'] ?? '',
    commit: env['COMMIT_HASH'] ?? '',
  };
}
