import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RangeSteps } from '#datastore/etcd/range-steps.ts';
import { keyAfter } from '#datastore/keys.ts';
import { checkProperty } from '#test/support/random-cases.ts';

const FILE = 'test/datastore/range-steps.test.ts';
const PREFIX = 'k/';
const END = Buffer.from('k0');

interface Listed {
  readonly keys: readonly Buffer[];
  readonly requests: number;
  /** How many keys the ranges have, those of a request after its page, too. */
  readonly counted: number;
}

/** Lists sorted keys as the store does. */
function list(keys: readonly Buffer[], page: number): Listed {
  const steps = new RangeSteps(END, page);
  const listed: Buffer[] = [];
  let [requests, counted] = [0, 0];
  for (let key: Buffer = Buffer.from(PREFIX); ; ) {
    const end = steps.endAfter(key);
    assert.ok(Buffer.compare(end, key) > 0);
    const range = keys.slice(placeOf(keys, key), placeOf(keys, end));
    const answer = range.slice(0, page);
    requests++;
    counted += range.length;
    listed.push(...answer);
    const [first, last] = [answer[0], answer.at(-1)];
    if (range.length > page && first && last) {
      steps.sawPage(range.length, first, last);
      key = keyAfter(last);
    } else if (end.equals(END)) return { keys: listed, requests, counted };
    else {
      steps.sawEnd(answer.length);
      key = end;
    }
  }
}

function placeOf(keys: readonly Buffer[], key: Buffer): number {
  let [from, to] = [0, keys.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (Buffer.compare(keys[middle]!, key) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

const sorted = (keys: Iterable<string>): Buffer[] =>
  [...new Set(keys)].map((key) => Buffer.from(PREFIX + key)).sort(Buffer.compare);

describe('ranges of a list', () => {
  it('have each key once, in order, whatever the keys are', async () => {
    const words = fc.array(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.stringMatching(/^[a-c]{0,9}$/)),
      { maxLength: 200, size: 'max' },
    );
    await checkProperty(
      { file: FILE, name: 'have each key once, in order, whatever the keys are' },
      500,
      fc.asyncProperty(words, fc.integer({ min: 1, max: 9 }), async (all, page) => {
        const keys = sorted(all);
        assert.deepEqual(list(keys, page).keys, keys);
      }),
    );
  });

  it('make etcd count few keys of a long list, with a few requests more', () => {
    const services = Array.from({ length: 1_000 }, (_, at) => `app-${at}-${(at * 7_919) % 9_973}`);
    const pods = services.flatMap((name) => Array.from({ length: 20 }, (_, at) => `${name}-${at}`));
    const keys = sorted(pods);
    const page = 100;
    const { requests, counted } = list(keys, page);
    assert.ok(requests < 2.5 * (keys.length / page), `${requests} requests`);
    assert.ok(counted < 15 * keys.length, `${counted} keys of ${keys.length}`);
  });

  it('are few also where groups of keys with long beginnings in common end', () => {
    const pods = Array.from({ length: 100 }, (_, group) =>
      Array.from({ length: 300 }, (_, at) => {
        const number = (at * 7_919) % 46_656;
        return `payments-processing-worker-${group}-7d9f8b6c5-${number.toString(36).padStart(3, '0')}`;
      }),
    );
    const keys = sorted(pods.flat());
    const page = 100;
    const { requests, counted } = list(keys, page);
    assert.ok(requests < 5 * (keys.length / page), `${requests} requests`);
    const inPagesAlone = keys.length ** 2 / page / 2;
    assert.ok(counted < inPagesAlone / 2, `${counted} keys of ${inPagesAlone}`);
  });

  it('are one for each page of a short list', () => {
    const keys = sorted(Array.from({ length: 85 }, (_, at) => `app-${at}`));
    assert.equal(list(keys, 10).requests, 9);
  });
});
