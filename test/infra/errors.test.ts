import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { defineError, traitsOf } from '#infra/errors/errors.ts';

const PlainError = defineError({ name: 'PlainError', code: 'CV_TEST_PLAIN', remedy: 'None.' });

const LostReplyError = defineError({
  name: 'LostReplyError',
  code: 'CV_TEST_LOST_REPLY',
  outcome: 'unknown',
  isRetriable: false,
  unavailable: 'southbound',
  remedy: 'None.',
});

describe('traits of an error', () => {
  it('have defaults', () => {
    const { outcome, isRetriable, unavailable, rejects } = traitsOf(new PlainError('x'));
    assert.deepEqual(
      [outcome, isRetriable, unavailable, rejects],
      ['failed', undefined, undefined, undefined],
    );
  });

  it('are those of the definition', () => {
    const { outcome, isRetriable, unavailable } = traitsOf(new LostReplyError('x'));
    assert.deepEqual([outcome, isRetriable, unavailable], ['unknown', false, 'southbound']);
  });

  it('are empty for errors of other origins', () => {
    assert.deepEqual(traitsOf(new Error('x')), {});
    assert.deepEqual(traitsOf('x'), {});
  });

  it('are not among the properties that a log line shows', () => {
    const properties: string[] = [];
    for (const name in new LostReplyError('x')) properties.push(name);
    assert.deepEqual(properties.sort(), ['code', 'name', 'remedy', 'where']);
  });

  it('replace comparisons of codes: a code occurs in the definition of its error alone', () => {
    for (const file of globSync('{src,plugins}/**/*.ts')) {
      const lines = readFileSync(file, 'utf8').split('\n');
      for (const line of lines.filter((text) => text.includes("'CV_")))
        assert.match(line, /^ *(readonly )?code(:| =) 'CV_[A-Z0-9_]+'[,;]$|startsWith/, file);
    }
  });
});
