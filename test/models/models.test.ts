import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { configModels, modelOfKey, modelOfType } from '#models/registry.ts';
import { dhcpLeaseModel, interfaceStateModel } from '#models/vpp/interface-state.ts';
import { jsonOf } from './arbitrary.ts';

const models = [...configModels, interfaceStateModel, dhcpLeaseModel];

interface Golden {
  readonly model: string;
  readonly key: string;
  readonly input: unknown;
  readonly json: unknown;
}

const golden = JSON.parse(
  readFileSync(new URL('./golden.json', import.meta.url), 'utf8'),
) as readonly Golden[];

test('the generated files match the .proto files', () => {
  const run = spawnSync(process.execPath, ['scripts/gen.ts', '--check'], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
});

test('every model of the registry is in the golden file', () => {
  const missing = configModels.filter(
    ({ typeName }) => !golden.some(({ model }) => model === typeName),
  );
  assert.deepEqual(
    missing.map(({ typeName }) => typeName),
    [],
  );
});

for (const { model: typeName, key, input, json } of golden) {
  test(`golden ${key}`, () => {
    const model = modelOfType(typeName);
    assert.ok(model !== undefined);
    const value = model.parse(input, key);
    assert.equal(model.key(value), key);
    assert.equal(modelOfKey(key), model);
    assert.equal(JSON.stringify(model.toJson(value)), JSON.stringify(json));
    assert.deepEqual(model.parse(json), value);
  });
}

for (const model of models) {
  test(`${model.typeName}: canonical form, JSON and wire format are converted without loss`, () => {
    fc.assert(
      fc.property(jsonOf(model.reflection()), (input) => {
        const value = model.parse(input) as object;
        assert.deepEqual(model.parse(value), value, 'idempotent');
        assert.deepEqual(model.parse(model.toJson(value)), value, 'JSON');
        assert.deepEqual(model.decodeWire(model.encodeWire(value)), value, 'wire');
        const keys = Object.keys(model.parse({ ...value }) as object);
        assert.deepEqual(keys, Object.keys(value), 'order of fields');
      }),
      { numRuns: 60 },
    );
  });
}

test('other keys have no model', () => {
  const keys = [
    '',
    'config',
    'config/vpp/v2/',
    'config/vpp/v2/interfacesX/a',
    'vpp/bd/a/interface/b',
  ];
  for (const key of keys) assert.equal(modelOfKey(key), undefined, key);
  assert.equal(modelOfType('ligato.vpp.l3.Nothing'), undefined);
});
