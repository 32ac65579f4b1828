/** Compares the rules of docs/event-loop.md with the tests that they name, in both directions. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const RULE = /R\d+\.\d+/g;

const rows = readFileSync('docs/event-loop.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));

/** Text and test files of each rule. */
const rules = rows
  .filter(([first = '']) => /^R\d+\.\d+$/.test(first))
  .map(([rule = '', text = '', tests = '']) => {
    const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file]) => file!);
    return { rule, text, files };
  });

/** Rules in the titles of a test file. */
function titled(file: string): Set<string> {
  const text = readFileSync(file, 'utf8');
  const titles = text.matchAll(/\bit\(\s*(['`])(.*?)\1,/gs);
  const named = [...titles].flatMap(([, , title = '']) => [...title.matchAll(/\[(R\d+\.\d+)\]/g)]);
  return new Set(named.map(([, rule]) => rule!));
}

const byFile = new Map(
  globSync('test/**/*.test.ts').map((file) => [file.replaceAll('\\', '/'), titled(file)]),
);

describe('rules of docs/event-loop.md', () => {
  it('numbers its rules from 1 in each part without gaps', () => {
    const parts = Map.groupBy(rules, ({ rule }) => rule.split('.')[0]!);
    assert.deepEqual([...parts.keys()], ['R4', 'R5', 'R6', 'R7', 'R8', 'R9']);
    for (const [part, ofPart] of parts)
      assert.deepEqual(
        ofPart.map(({ rule }) => rule),
        ofPart.map((_, at) => `${part}.${at + 1}`),
      );
  });

  it('names for every rule exactly the files with a test of the rule', () => {
    for (const { rule, text, files } of rules) {
      assert.ok(text.length > 10, rule);
      const found = [...byFile].filter(([, named]) => named.has(rule)).map(([file]) => file);
      assert.deepEqual([...files].sort(), found.sort(), rule);
      assert.ok(found.length > 0, `${rule} has no test`);
    }
  });

  it('has every rule that the title of a test names', () => {
    const known = new Set(rules.map(({ rule }) => rule));
    for (const [file, named] of byFile)
      for (const rule of named) assert.ok(known.has(rule), `${file}: ${rule}`);
  });

  it('has a rule for every defect of the original', () => {
    const known = new Set(rules.map(({ rule }) => rule));
    const defects = rows.filter(([, last = '']) => /^R\d+\.\d+(, R\d+\.\d+)*$/.test(last));
    assert.ok(defects.length >= 10);
    for (const [defect, instead = ''] of defects)
      for (const [rule] of instead.matchAll(RULE)) assert.ok(known.has(rule), `${defect}: ${rule}`);
  });
});
