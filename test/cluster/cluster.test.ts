/**
 * The smallest honest part of `npm run test:kubernetes`: a cluster of this tree's images comes up, and one
 * test of each kind passes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutCluster } from '../support/requirements.ts';
import { clusterDown, clusterUp } from './cluster.ts';
import { buildImages, withoutImagePrograms } from './images.ts';
import { defaultSettings } from './settings.ts';
import { suites } from './suites.ts';

const LIMIT_MS = 600_000;

const skip = withoutCluster() || withoutImagePrograms();

describe('Kubernetes on two nodes', { skip, timeout: LIMIT_MS }, () => {
  before(async () => {
    await buildImages(() => undefined);
    await clusterUp(defaultSettings, () => undefined);
  });
  after(clusterDown);

  it('passes one of its tests of each kind', async () => {
    const { cases } = await suites['smoke']!.run(defaultSettings);
    const outcomes = Object.fromEntries(cases.map(({ name, outcome }) => [name, outcome]));
    assert.ok(cases.length >= 3, JSON.stringify(outcomes));
    assert.deepEqual(
      cases.filter(({ outcome }) => outcome !== 'passed'),
      [],
    );
  });
});
