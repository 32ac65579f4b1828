import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DbResync,
  ExternalConfigChange,
  ExternalConfigResync,
  KubeStateChange,
} from '#plugins/controller/api/events.ts';

function many<V>(count: number, value: V): Record<string, V> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`key/${n}`, value]));
}

describe('descriptions of events', () => {
  it('list what a resync carries, by resource and name', () => {
    const pod = { b: { name: 'web', namespace: 'default' }, a: { name: 'db', namespace: 'x' } };
    const node = { n: { name: 'node1' }, unnamed: {} };
    assert.deepEqual(
      DbResync.describe({
        local: true,
        kubeState: { pod, node, policy: {} },
        externalConfig: { k2: {}, k1: {} },
      }).split('\n'),
      [
        'Database Resync (Local DB)',
        '* 2x node',
        '    - node1',
        '    - unnamed',
        '* 2x pod',
        '    - default/web',
        '    - x/db',
        '* 2x external config items: k1, k2',
      ],
    );
    assert.equal(
      DbResync.describe({ local: false, kubeState: { pod: {} }, externalConfig: {} }),
      'Database Resync (Remote DB) - empty dataset',
    );
  });

  it('say what an external source wants, and what it gives up', () => {
    const values = { b: null, a: { v: 1 } };
    assert.deepEqual(ExternalConfigChange.describe({ source: 'grpc', values }).split('\n'), [
      'External Config Change [GRPC]',
      '* [PUT] key: a',
      '  new-value: {"v":1}',
      '* [DEL] key: b',
    ]);
    assert.equal(
      ExternalConfigChange.describe({ source: 'db', values: { a: null } }),
      'External Config Change [DB, DEL]\n* key: a',
    );
  });

  it('stay short, however much there is', () => {
    const lines = (text: string) => text.split('\n').length;
    const resync = {
      local: false,
      kubeState: { pod: many(5000, {}) },
      externalConfig: many(5000, {}),
    };
    const text = DbResync.describe(resync);
    assert.ok(lines(text) < 210);
    assert.match(text, /\* 5000x pod\n(.*\n)+ {4}- … 4800 more\n/);
    assert.match(text, /5000x external config items: .*, … 4800 more$/);
    const change = ExternalConfigChange.describe({ source: 'db', values: many(5000, null) });
    assert.match(change, /\n\* … 4800 more$/);
    const external = ExternalConfigResync.describe({ source: 'db', values: many(5000, {}) });
    assert.match(external, /\n\* … 4800 more$/);
    const current = { addresses: Array.from({ length: 5000 }, () => '10.1.1.1') };
    const state = { resource: 'endpoints', key: 'k', previous: undefined, current };
    assert.match(
      KubeStateChange.describe(state),
      /\* prev-value: <nil>\n\* new-value: \{.*more char/,
    );
    assert.ok(KubeStateChange.describe(state).length < 5000);
  });
});
