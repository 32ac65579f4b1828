import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readManifests } from '#kubernetes/reflector/manifests.ts';
import { readObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';

const golden = (name: string): string =>
  readFileSync(new URL(`golden/${name}`, import.meta.url), 'utf8');

test('values of ordinary objects are those of the original reflector, byte for byte', () => {
  const originals = JSON.parse(golden('original.json')) as Record<string, string>;
  const { objects, problems } = readManifests(golden('ordinary.yaml'), 'ordinary.yaml');
  assert.deepEqual(problems, []);
  assert.equal(objects.length, Object.keys(originals).length);
  for (const { object: input } of objects) {
    const { object, rejection } = readObject(input);
    assert.equal(rejection, undefined);
    const { reflected } = reflect(object as ReflectedObject, 'mixed');
    assert.ok(reflected);
    const { kind, metadata } = object as ReflectedObject;
    const name = [metadata.namespace, metadata.name].filter(Boolean).join('/');
    const text = originals[`${kind} ${name}`];
    assert.equal(valueText(reflected.resource, reflected.value), text, `${kind} ${name}`);
    assert.equal(reflected.key, reflected.resource.key(metadata.name, metadata.namespace ?? ''));
  }
});
