/**
 * Records of the objects of a kube-apiserver, beside those that the original's reflector writes for
 * them, as test/integration/kubernetes/original-ksr.test.ts recorded both.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createReflector } from '#ksr/records/reflector.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import {
  comparable,
  goldenExtensions,
  goldenObjects,
  goldenOriginal,
} from '../integration/support/golden-objects.ts';

test("records are those of the original's reflector, but for the extensions", () => {
  const reflector = createReflector({
    prefix: REFLECTOR_PREFIX,
    readers: 'mixed',
    clock: new ManualClock(),
    log: silentLogger,
  });
  const objects = goldenObjects();
  for (const { kind, handlers } of reflector.watches) {
    handlers.listing();
    handlers.changed(objects.filter((object) => (object as { kind: string }).kind === kind.kind));
    handlers.listed();
  }
  const records = new Map<string, string>();
  for (const { table } of reflector.records)
    for (const key of table.keys()) records.set(key, table.get(key) as string);
  assert.deepEqual(comparable(records), { ...goldenOriginal(), ...goldenExtensions() });
});
