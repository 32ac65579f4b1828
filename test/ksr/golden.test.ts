/**
 * Records of the objects of a kube-apiserver, beside those that the original's reflector writes for
 * them, as test/integration/kubernetes/original-ksr.test.ts recorded both.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  comparable,
  goldenObjects,
  goldenOriginal,
} from '../integration/support/golden-objects.ts';
import { recordsOf } from '../integration/support/reflected-state.ts';

test("records are those of the original's reflector, but for the extensions", () => {
  const extensions: Record<string, unknown> = JSON.parse(
    readFileSync(new URL('golden/extensions.json', import.meta.url), 'utf8'),
  );
  const records = comparable(recordsOf(goldenObjects(), 'mixed'));
  assert.deepEqual(records, { ...goldenOriginal(), ...extensions });
});
