import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValueSummary } from '#documents/scheduler/value-search.ts';
import {
  isFiltered,
  rowsOf,
  searchPath,
  searchQuery,
} from '../../../ui/src/views/values/search-address.ts';
import {
  conditionText,
  count,
  retriesText,
  summaryText,
} from '../../../ui/src/views/values/value-text.ts';

describe('text of a value', () => {
  const value: ValueSummary = { key: 'a', state: 'CONFIGURED', details: [], detailCount: 0 };

  it('says why it is not as desired', () => {
    assert.equal(summaryText(value), '');
    const pending: ValueSummary = {
      ...value,
      state: 'PENDING',
      details: ['x', 'y'],
      detailCount: 5,
    };
    assert.equal(summaryText(pending), 'waits for x, y and 3 more');
    assert.equal(summaryText({ ...value, state: 'FAILED', error: 'no' }), 'no');
    const invalid: ValueSummary = { ...value, state: 'INVALID', error: 'bad', details: ['f'] };
    assert.equal(summaryText({ ...invalid, detailCount: 1 }), 'bad; f');
  });

  it('says when it is retried', () => {
    const nextAt = '1970-01-01T00:00:30Z';
    const retries = { started: 0, maximum: 0, nextAt, firstTransaction: 1 };
    assert.equal(retriesText(retries, 0), 'Not retried yet; retry 1 is due in 30 s.');
    assert.equal(
      retriesText({ ...retries, started: 1, maximum: 3 }, 29_500),
      '1 retry of at most 3; retry 2 of at most 3 is due now.',
    );
    assert.equal(
      retriesText({ started: 3, maximum: 3, firstTransaction: 1 }, 0),
      '3 retries of at most 3; it is not retried any more.',
    );
  });

  it('says what meets a dependency', () => {
    const dependency = {
      label: 'l',
      key: 'k',
      prefixes: ['p/'],
      isMet: false,
      values: [],
      hasMore: false,
      unavailable: [],
    };
    assert.equal(conditionText(dependency), 'k, or any key with p/…');
  });

  it('counts', () => {
    assert.equal(count(1, 'value', 'values'), '1 value');
    assert.equal(count(10_000, 'value', 'values'), '10,000 values');
  });
});

describe('search of the address', () => {
  it('becomes a request', () => {
    const path = (text: string) => searchPath(new URLSearchParams(text));
    assert.equal(path(''), 'scheduler/values?limit=50');
    assert.equal(
      path('search=a+b&state=problem&descriptor=d&after=k&limit=200&key=x'),
      'scheduler/values?limit=200&search=a+b&state=problem&descriptor=d&after=k',
    );
    // Whatever a link asks for, no more is shown.
    assert.equal(rowsOf(new URLSearchParams('limit=100000')), 50);
  });

  it('is kept when a value is opened', () => {
    const query = new URLSearchParams('search=a&key=k');
    assert.deepEqual(searchQuery(query), { search: 'a', key: undefined });
    assert.equal(isFiltered(query), true);
    assert.equal(isFiltered(new URLSearchParams('key=k&limit=200&search=')), false);
  });
});
