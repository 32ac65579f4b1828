/** docs/troubleshooting.md against the tables that are generated from the source. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { partOf } from '../../scripts/lib/docs/documents.ts';
import { keysOf } from '../../scripts/lib/docs/table.ts';

const text = readFileSync('docs/troubleshooting.md', 'utf8');
const configuration = readFileSync('docs/configuration.md', 'utf8');
const netctl = readFileSync('docs/netctl.md', 'utf8');

function documented(path: string, part: string): Set<string> {
  const keys = keysOf(partOf(readFileSync(path, 'utf8'), part));
  return new Set(keys.map((key) => key.replaceAll('`', '')));
}

/** First group of each match, none of which may be missing in `known`. */
function assertKnown(pattern: RegExp, known: ReadonlySet<string>): void {
  const named = [...text.matchAll(pattern)].map(([, name]) => name!);
  assert.ok(named.length > 5, String(pattern));
  for (const name of named) assert.ok(known.has(name), name);
}

describe('docs/troubleshooting.md', () => {
  it('names codes of errors that exist', () => {
    assertKnown(/`(CV_[A-Z_]+)`/g, documented('docs/errors.md', 'errors'));
  });

  it('names metrics that exist', () => {
    assertKnown(/`((?:contiv|ligato|vpp)_[a-z0-9_]+)`/g, metricNames());
  });

  it('names routes that exist', () => {
    assertKnown(/`((?:GET|POST|PUT) \/[\w/-]+)/g, documented('docs/rest.md', 'routes'));
  });

  it('names keys of the configuration file that has them', () => {
    const pairs = [...text.matchAll(/`([\w.-]+)` in `((?!startup)\w+\.conf)`/g)];
    assert.ok(pairs.length > 15);
    for (const [pair, key, file] of pairs) {
      const section = configuration.split(/^### /m).find((part) => part.startsWith(`${file}\n`));
      assert.ok(section?.includes(`| \`${key}\` |`), pair);
    }
  });

  it('names flags that exist', () => {
    for (const [, flag] of text.matchAll(/(?<!curl )`?(--[a-z]+(?:-[a-z]+)+|--wanted)/g))
      assert.ok(
        configuration.includes(`\`${flag}\``) ||
          netctl.includes(`\`${flag}`) ||
          flag === '--unix-socket',
        flag,
      );
  });

  it('has a row for at least 20 symptoms, each with three cells', () => {
    // The table before the first section is that of netctl.
    const sections = text.slice(text.indexOf('\n## '));
    const rows = sections.split('\n').filter((line) => /^\| (?!symptom)/.test(line));
    assert.ok(rows.length >= 20);
    for (const row of rows) assert.equal(row.split(' | ').length, 3, row);
  });
});

/** Those of the agent, and `vpp_main`, which is a thread. */
function metricNames(): Set<string> {
  return documented('docs/metrics.md', 'metrics').add('vpp_main');
}
