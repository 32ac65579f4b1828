import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { checkProperty, rangeOf } from './random-cases.ts';

const variables = ['CV_CASES', 'CV_PART', 'CV_PATH', 'CV_SEED'] as const;
let given: (string | undefined)[];

beforeEach(() => {
  given = variables.map((name) => process.env[name]);
  for (const name of variables) delete process.env[name];
});

afterEach(() => {
  for (const [at, name] of variables.entries()) {
    const value = given[at];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

test('parts are disjoint and cover all cases', () => {
  for (const count of [501, 1500, 2500]) {
    const parts = [1, 2, 3, 4, 5, 6, 7, 8].map((part) => rangeOf(count, `${part}/8`));
    let next = 0;
    for (const { from, count } of parts) {
      assert.equal(from, next);
      next += count;
    }
    assert.equal(next, count);
  }
  assert.deepEqual(rangeOf(1500, '1/1'), { from: 0, count: 1500 });
});

test('without a part the first cases run, of a short property all, with CV_CASES more', () => {
  assert.deepEqual(rangeOf(1500, undefined), { from: 0, count: 500 });
  for (const part of [undefined, '3/8'])
    assert.deepEqual(rangeOf(100, part), { from: 0, count: 100 });
  assert.deepEqual(rangeOf(100, '1/8', '10'), { from: 0, count: 1000 });
});

/** The cases that a property runs with CV_PART. */
async function casesOf(part: string | undefined, count: number): Promise<number[]> {
  const seen: number[] = [];
  const property = fc.asyncProperty(fc.nat(), async (value) => void seen.push(value));
  if (part === undefined) delete process.env['CV_PART'];
  else process.env['CV_PART'] = part;
  await checkProperty({ file: 'x.test.ts', name: 'x' }, count, property);
  return seen;
}

test('the parts together run the cases of the whole', async () => {
  const whole = await casesOf('1/1', 600);
  const parts: number[] = [];
  for (const part of ['1/3', '2/3', '3/3']) parts.push(...(await casesOf(part, 600)));
  assert.equal(whole.length, 600);
  assert.deepEqual(parts, whole);
  assert.deepEqual(await casesOf(undefined, 600), whole.slice(0, 500));
});

test('a failure in a later part names a path that runs that case alone', async () => {
  const failing = (await casesOf('2/2', 600))[3];
  const property = fc.asyncProperty(fc.nat(), async (value) => assert.notEqual(value, failing));
  await assert.rejects(
    checkProperty({ file: 'x.test.ts', name: 'title' }, 600, property),
    /^Error: CV_SEED=1 CV_PATH=303\S* node --test --test-name-pattern 'title' x\.test\.ts\n/,
  );
});
