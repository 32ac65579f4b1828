import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limitArgument, searchArgument } from '#infra/http/list-arguments.ts';
import { BadRequestError } from '#infra/http/route.ts';

function request(query: Record<string, string>) {
  const lists = Object.entries(query).map(([name, text]) => [name, [text]]);
  return { query: Object.fromEntries(lists), params: {}, body: undefined };
}

describe('limit of a list', () => {
  it('is 200, or what is asked for', () => {
    assert.equal(limitArgument(request({}), 'limit'), 200);
    assert.equal(limitArgument(request({}), 'limit', 1_000), 200);
    assert.equal(limitArgument(request({}), 'limit', 50), 50);
    assert.equal(limitArgument(request({ limit: '7' }), 'limit'), 7);
  });

  it('is refused outside of its range', () => {
    for (const limit of ['0', '201', '-1', 'many', ''])
      assert.throws(() => limitArgument(request({ limit }), 'limit'), BadRequestError, limit);
  });
});

describe('search in a list', () => {
  it('finds a part of any text, in upper and lower case', () => {
    const isFound = searchArgument(request({ search: ' WEB-1' }), 'search');
    assert.equal(isFound(['10.1.1.2', 'shop/web-12']), true);
    assert.equal(isFound(['shop/web-2', '']), false);
    assert.equal(isFound([]), false);
  });

  it('finds everything without a text', () => {
    assert.equal(searchArgument(request({}), 'search')([]), true);
    assert.equal(searchArgument(request({ search: ' ' }), 'search')([]), true);
  });
});
