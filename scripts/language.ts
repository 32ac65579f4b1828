/**
 *     npm run language             every use of a word that this project replaces; exit code 1 if any
 *     npm run language -- --count  how many of each, also for another checkout: --root <folder>
 *
 * Looks at names of files and identifiers, comments, errors, log messages, test titles, documentation
 * and configuration texts. The rules are in scripts/lib/language/rules.ts.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { findViolations } from './lib/language/violations.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'boolean', default: false },
    root: { type: 'string', default: '.' },
  },
});

const paths = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: values.root,
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
  .split('\n')
  .filter((path) => /\.(ts|md|conf|yaml)$/.test(path) && !/\.gen\.|golden|\/expected\//.test(path));

const violations = findViolations(values.root, paths);
if (values.count) {
  const counts = Map.groupBy(violations, ({ rule }) => rule);
  for (const [rule, found] of [...counts].sort((a, b) => b[1].length - a[1].length))
    console.log(`${String(found.length).padStart(6)}  ${rule}`);
  console.log(`${String(violations.length).padStart(6)}  in all, in ${paths.length} files`);
} else {
  for (const { path, line, found, say } of violations)
    console.log(`${path}:${line}: "${found}": say ${say}`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
