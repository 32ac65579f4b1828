/** `npm run language` finds what it has to find, and nothing in plain text. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findViolations } from '../../scripts/lib/language/violations.ts';

let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'language-'));
});
after(() => rmSync(root, { recursive: true }));

/** Violations in a file with this text. */
function violations(path: string, text: string): string[] {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return findViolations(root, [path]).map(({ line, found }) => `${line} ${found}`);
}

describe('the language check', () => {
  const cases: readonly [what: string, path: string, text: string, expected: readonly string[]][] =
    [
      ['a word in a comment', 'a.ts', '\n/** Nobody asked. */\nexport {};', ['2 Nobody']],
      ['a phrase over two lines', 'a.ts', '// it makes no\n// sense', []],
      [
        'a phrase over two lines of a docstring',
        'a.ts',
        '/**\n * It makes no\n * sense.\n */\nexport {};',
        ['1 makes no sense'],
      ],
      ['a word in an error text', 'a.ts', 'throw new Error(`key shall go`);', ['1 shall']],
      ['a word in a test title', 'a.ts', "it('is told of the end', () => {});", ['1 told']],
      ['a part of an identifier', 'a.ts', 'export function wishedValue() {}', ['1 wished']],
      [
        'a property of an interface',
        'a.ts',
        'interface A { readonly strays: number }',
        ['1 strays'],
      ],
      ['an error class', 'a.ts', 'export const ErrGone = 1 + f();', ['1 ErrGone']],
      ['a file name', 'src/opening.ts', 'export {};', ['1 opening.ts']],
      [
        'a log message in upper case',
        'a.ts',
        "log.info({ a }, 'Connected to it');",
        ['1 Connected to it'],
      ],
      ['a literal constant in camelCase', 'a.ts', 'const limitMs = 5 * 1000;', ['1 limitMs']],
      ['another constant in upper case', 'a.ts', 'const THE_LIMIT = f();', ['1 THE_LIMIT']],
      ['a shadowed global', 'a.ts', 'export function require() {}', ['1 require']],
      ['a relative clause', 'a.ts', '/** What it needs. */\nconst a = f();', ['1 /** What']],
      ['documentation', 'a.md', 'The agent\nshall stop.', ['1 shall']],
      ['a table', 'a.md', '| a |\n|---|\n| anew |', ['3 anew']],
      ['a configuration file', 'a.conf', 'key: value\n## Shall it?', ['2 Shall']],
      ['code in documentation', 'a.md', '`wished`\n```\nwished\n```', []],
      ['data', 'a.ts', "f('wished/key'); log.info('VPP is connected');", []],
      ['an acronym in a log message', 'a.ts', "log.warn('CNI ADD failed');", []],
      ['plain text', 'a.ts', '/** The desired value. */\nexport const LIMIT_MS = 5;', []],
    ];
  for (const [what, path, text, expected] of cases)
    it(expected.length > 0 ? `reports ${what}` : `accepts ${what}`, () => {
      assert.deepEqual(violations(path, text), expected);
    });
});
