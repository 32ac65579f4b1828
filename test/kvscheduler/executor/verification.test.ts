/** Differences between what a transaction made and what the southbound shows afterwards. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { VerificationError } from '#kvscheduler/executor/verification.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { runScript } from '../support/run-script.ts';
import { scripts } from '../support/scripts.ts';
import { type Bench, setUp } from '../support/setup.ts';

const NOT_THERE = 'a/1 (UNDEFINED): a/1: value is not actually configured';

describe('verification', () => {
  const hiding = (bench: Bench, change: (values: Bench['southbound']['values']) => void) => {
    bench.southbound.beforeRetrieve = () => change(bench.southbound.values);
  };

  it('names a value that does not exist', async () => {
    const bench = setUp({ verify: true });
    hiding(bench, (values) => values.delete('a/1'));
    assert.deepEqual(await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } }), [NOT_THERE]);
    assert.deepEqual(bench.lastRecord().VerificationErrors, [
      'a/1: value is not actually configured',
    ]);
  });

  it('names a value that still exists', async () => {
    const bench = setUp({ verify: true });
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
    hiding(bench, (values) => values.set('a/1', { spec: { v: 1 }, managed: true }));
    assert.deepEqual(await bench.commit({ 'a/1': null }), [
      'a/1 (UNDEFINED): a/1: value is not actually removed',
    ]);
  });

  it('names a value that differs', async () => {
    const bench = setUp({ verify: true });
    hiding(bench, (values) => values.set('a/1', { spec: { v: 9 }, managed: true }));
    assert.deepEqual(await bench.commit({ 'a/1': { v: 1 } }), [
      'a/1 (UNDEFINED): a/1: value is not actually what it was configured to be',
    ]);
  });

  it('names derived values by their own keys', async () => {
    const bench = setUp({ verify: true });
    hiding(bench, (values) => values.delete('d/a1.0'));
    const derives = { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1, needs: ['a/2'] } };
    assert.deepEqual(await bench.commit({ 'a/1': { v: 1, derives } }), [
      'd/a1.0 (UNDEFINED): d/a1.0: value is not actually configured',
    ]);
    hiding(bench, (values) => values.set('d/a1.1', { spec: { v: 1 }, managed: true }));
    assert.deepEqual(await bench.commit({ 'a/1': { v: 2, derives } }), [
      'd/a1.0 (UNDEFINED): d/a1.0: value is not actually configured',
      'd/a1.1 (UNDEFINED): d/a1.1: value is not actually removed',
    ]);
  });

  it('names an unexpected derived value', async () => {
    const bench = setUp({ verify: true });
    hiding(bench, (values) => values.set('d/a1.9', { spec: { v: 1 }, managed: true }));
    assert.deepEqual(await bench.commit({ 'a/1': { v: 1 } }), [
      'd/a1.9 (UNDEFINED): d/a1.9: value is not actually removed',
    ]);
  });

  it('gives the type of each difference', async () => {
    const bench = setUp({ verify: true });
    hiding(bench, (values) => values.delete('a/1'));
    const { failures } = await bench.scheduler.commit({
      description: '',
      mode: 'update',
      values: new Map([['a/1', { v: 1 }]]),
      onFailure: 'best-effort',
    });
    const [failure] = failures;
    assert.ok(failure?.error instanceof VerificationError);
    assert.equal(failure.error.type, 'ExpectedToExist');
    assert.equal(failure.error.code, 'CV_SCHED_VERIFICATION');
  });

  it('does not change the graph, and reads only touched values', async () => {
    const bench = setUp({ verify: true });
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 }, 'b/1': { v: 1 } });
    bench.southbound.retrieves.length = 0;
    hiding(bench, (values) => values.delete('a/1'));
    await bench.commit({ 'a/1': { v: 2 } });
    assert.deepEqual(bench.southbound.retrieves, [
      { descriptor: 'alpha', keys: ['a/1', 'a/2'], only: ['a/1'] },
    ]);
    assert.equal(bench.state('a/1'), 'CONFIGURED');
  });

  it('ignores unmanaged values', async () => {
    const bench = setUp({ verify: true });
    bench.southbound.changeExternally('a/f0', { v: 1 });
    bench.scheduler.pushNotification([{ key: 'a/f0', value: { v: 1 } }]);
    hiding(bench, (values) => values.delete('a/f0'));
    assert.deepEqual(await bench.commit({ 'a/1': { v: 1, needs: ['a/f0'] } }), []);
    assert.equal(bench.state('a/1'), 'CONFIGURED');
  });

  it('reports descriptors that could not be read', async () => {
    const bench = setUp({ verify: true });
    bench.southbound.retrieveFails = (name) => (name === 'alpha' ? new Error('mute') : undefined);
    hiding(bench, (values) => values.delete('b/1'));
    assert.deepEqual(await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1 } }), [
      'b/1 (UNDEFINED): b/1: value is not actually configured',
    ]);
    assert.deepEqual(bench.lastRecord().RetrieveErrors, ['alpha: mute']);
  });

  it('is disabled by default', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1 } });
    assert.deepEqual(bench.southbound.retrieves, []);
  });

  it('finds no differences in random scripts', async ({ name }) => {
    await checkProperty(
      { file: 'test/kvscheduler/executor/verification.test.ts', name },
      100,
      fc.asyncProperty(scripts({ wild: true }, 6), async (script) => {
        const settings = { window: 100, conflicts: true, options: { verify: true } };
        const { bench } = await runScript(script, settings);
        for (const record of bench.scheduler.history())
          assert.deepEqual(record.VerificationErrors, undefined, JSON.stringify(record));
      }),
    );
  });
});
