/** Preferences of services that their records leave out for agents of the original. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseConfig } from '#infra/config/load.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { ksrSchema } from '#ksr/config.ts';
import { MANIFEST } from '../../scripts/lib/deploy/chart.ts';
import { configFiles, find, objectsOf } from '../deploy/support/objects.ts';
import { ReflectedCluster, type TestObject } from './support/reflected-cluster.ts';

const service = (trafficDistribution?: string): TestObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace: 'default' },
  spec: { clusterIP: '10.96.0.9', ports: [{ port: 80 }], trafficDistribution },
});

describe('a service whose preference is not in its record', () => {
  it('is named once in the log for each preference', () => {
    const warnings: { name?: string; omitted?: string }[] = [];
    const warn = (fields: object) => warnings.push(fields);
    const cluster = new ReflectedCluster({ ...silentLogger, warn } as unknown as Logger);
    const told = () => warnings.splice(0).map(({ name, omitted }) => `${name}: ${omitted}`);
    cluster.put(service());
    assert.deepEqual(told(), []);
    for (let lists = 0; lists < 3; lists++) {
      cluster.put(service('PreferSameZone'));
      cluster.list('Service');
      const expected = lists === 0 ? ['default/web: trafficDistribution: PreferSameZone'] : [];
      assert.deepEqual(told(), expected);
    }
    cluster.put(service('PreferSameNode'));
    assert.deepEqual(told(), ['default/web: trafficDistribution: PreferSameNode']);
    cluster.put(service());
    cluster.put(service('PreferSameNode'));
    assert.deepEqual(told(), ['default/web: trafficDistribution: PreferSameNode']);
  });

  it('does not exist with the manifest, whose agents are all of this project', () => {
    const objects = objectsOf(readFileSync(MANIFEST, 'utf8'));
    const files = configFiles(objects, find(objects, 'Deployment', 'contiv-ksr'));
    const { value, warnings } = parseConfig(ksrSchema, files['ksr.conf'] ?? '', 'ksr.conf');
    assert.deepEqual([value.readers, warnings], ['own', []]);
  });
});
