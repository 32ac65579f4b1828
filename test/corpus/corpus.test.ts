/**
 * Compares the behavior of the agent, byte for byte, with its recording.
 *
 * CV_RECORD_CORPUS=1 rewrites the expectations. CV_CORPUS_DUMP=<folder> writes the whole text of
 * every scenario, also of the parts that are kept as hashes: two trees are compared with
 * `diff -r <folder of one> <folder of the other>`. CV_CORPUS=<word> runs only the scenarios that
 * have the word in their name.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { scenarios } from './scenarios.ts';
import type { Recorded } from './worker.ts';

const expected = join(import.meta.dirname, 'expected');
const { CV_RECORD_CORPUS, CV_CORPUS_DUMP, CV_CORPUS = '' } = process.env;

const RECORD = 'CV_RECORD_CORPUS=1 node --test test/corpus/corpus.test.ts';

/** Differing lines that a failure shows. */
const MOST_SHOWN = 20;

describe('behavior corpus', { timeout: 300_000 }, () => {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: 128 },
  });
  after(() => worker.terminate());

  for (const { name } of scenarios.filter((one) => one.name.includes(CV_CORPUS)))
    it(name, async () => {
      worker.postMessage(name);
      const [recorded] = (await once(worker, 'message')) as [Recorded];
      if ('failure' in recorded) assert.fail(recorded.failure);
      const { expectation: found, fullText } = recorded;
      if (CV_CORPUS_DUMP) {
        mkdirSync(CV_CORPUS_DUMP, { recursive: true });
        writeFileSync(join(CV_CORPUS_DUMP, `${name}.txt`), fullText);
      }
      const path = join(expected, `${name}.txt`);
      if (CV_RECORD_CORPUS) writeFileSync(path, found);
      else assertSame(found, readFileSync(path, 'utf8'));
    });
});

/** @throws AssertionError that names each part that differs, and whether it is the order alone */
function assertSame(found: string, wanted: string): void {
  if (found === wanted) return;
  const [before, after] = [partsOf(wanted), partsOf(found)];
  const differences: string[] = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(name) ?? [], after.get(name) ?? []];
    if (old.join('\n') === now.join('\n')) continue;
    const isOrder = old.toSorted().join('\n') === now.toSorted().join('\n');
    differences.push(`${name}${isOrder ? ' (the order alone)' : ''}:`);
    const gone = old.filter((line) => !now.includes(line)).map((line) => `  - ${line}`);
    const come = now.filter((line) => !old.includes(line)).map((line) => `  + ${line}`);
    differences.push(...[...gone, ...come].slice(0, MOST_SHOWN));
  }
  assert.fail(`behavior has changed:\n${differences.join('\n')}\nif intended: ${RECORD}`);
}

function partsOf(text: string): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  for (const part of text.split(/^=== /m)) {
    const [name = '', ...lines] = part.split('\n');
    parts.set(name, lines);
  }
  return parts;
}
