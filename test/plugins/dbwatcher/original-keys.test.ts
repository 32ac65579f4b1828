import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { configModels, modelOfKey } from '#models/registry.ts';
import { decode, KeySpace } from '#plugins/dbwatcher/key-space.ts';
import { AGENT_PREFIX } from './watcher-harness.ts';

interface OriginalValue {
  readonly model: string;
  readonly key: string;
  readonly input: unknown;
  readonly json: unknown;
}

/** Values of the original with their keys. */
const golden = JSON.parse(
  readFileSync(new URL('../../models/golden.json', import.meta.url), 'utf8'),
) as readonly OriginalValue[];

describe('external configuration under the keys of the original', () => {
  for (const { typeName } of configModels)
    it(`is accepted for ${typeName}`, () => {
      const values = golden.filter(
        ({ model, key }) => model === typeName && modelOfKey(key) !== undefined,
      );
      assert.ok(values.length > 0);
      const keySpace = new KeySpace(AGENT_PREFIX);
      for (const { key, input, json } of values)
        for (const text of [input, json]) {
          const fullKey = AGENT_PREFIX + key;
          const { value } = decode(keySpace.find(fullKey)!, fullKey, JSON.stringify(text));
          assert.deepEqual(value, modelOfKey(key)?.parse(json));
        }
    });
});
