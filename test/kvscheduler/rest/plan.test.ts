/** REST: what a change and what a resync would do, without doing it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineError } from '#infra/errors/errors.ts';
import { makeBench, restOf } from '../support/rest.ts';
import { type Bench, setUp } from '../support/setup.ts';

describe('/scheduler/drift', () => {
  it('lists values that are missing, different or stale, and changes nothing', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 2 }, 'a/3': { v: 3, needs: ['b/9'] } });
    const ask = restOf(bench);
    assert.deepEqual((await ask('GET /scheduler/drift')).body.Differences.length, 0);
    bench.southbound.changeExternally('a/1', null);
    bench.southbound.changeExternally('a/2', { v: 7 });
    bench.southbound.changeExternally('a/f0', { v: 5 });
    bench.southbound.values.set('a/8', { spec: { v: 8 }, managed: true });
    const before = bench.southbound.contents();
    const { status, body } = await ask('GET /scheduler/drift');
    assert.equal(status, 200);
    assert.deepEqual(
      body.Differences.map((one: Record<string, string>) => `${one['Difference']} ${one['Key']}`),
      ['missing a/1', 'different a/2', 'stale a/8'],
      'not a/f0 of another component, and not a/3, which waits for b/9',
    );
    assert.deepEqual(body.Unread, []);
    assert.deepEqual(bench.southbound.contents(), before);
    assert.equal(bench.state('a/1'), 'CONFIGURED');
  });

  it('lists derived values that a base is compared without', async () => {
    const bench = setUp();
    const [own, other] = ['d/a1.0', 'd/a1.1'];
    await bench.commit({ 'a/1': { v: 1, derives: { [own]: { v: 1 }, 'p/a1': { v: 1 } } } });
    bench.southbound.changeExternally(own, null);
    bench.southbound.values.set(other, { spec: { v: 1 }, managed: true });
    const { body } = await restOf(bench)('GET /scheduler/drift');
    assert.deepEqual(body.Differences, [
      { Key: own, Descriptor: 'derived', Difference: 'missing' },
      { Key: other, Descriptor: 'derived', Difference: 'stale' },
    ]);
    assert.equal(body.Compared, 3);
    assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), [
      `DELETE ${other}`,
      `CREATE ${own}`,
    ]);
  });

  it('lists a derived value that failed, with its error', async () => {
    const bench = setUp();
    bench.southbound.fails = (_, key) => (key === 'd/a1.0' ? new Error('no such link') : undefined);
    await bench.commit({ 'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } } });
    const { body } = await restOf(bench)('GET /scheduler/drift');
    assert.deepEqual(body.Differences, [
      { Key: 'd/a1.0', Descriptor: 'derived', Difference: 'missing', Error: 'no such link' },
    ]);
  });

  it('lists nothing for a rejected value that a resync leaves as it is', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1, needs: ['b/9'] } });
    await bench.commit({ 'a/1': { v: 2, invalid: true }, 'a/2': { v: 1, invalid: true } });
    bench.southbound.values.set('a/2', { spec: { v: 7 }, managed: true });
    const { body } = await restOf(bench)('GET /scheduler/drift');
    assert.equal(bench.state('a/1'), 'INVALID [invalid] last valid PENDING');
    assert.deepEqual(body.Differences, []);
    assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
  });

  it('names the descriptors that it cannot read', async () => {
    const bench = await makeBench();
    bench.southbound.retrieveFails = (name) =>
      name === 'alpha' ? new Error('VPP is not connected') : undefined;
    const { body } = await restOf(bench)('GET /scheduler/drift');
    assert.deepEqual(body.Unread, [{ Descriptor: 'alpha', Error: 'VPP is not connected' }]);
  });
});

describe('/scheduler/plan', () => {
  const NoSuchThingError = defineError({
    name: 'NoSuchThingError',
    code: 'CV_TEST_NO_SUCH_THING',
    remedy: '',
  });
  const plan = (bench: Bench, body: unknown) =>
    restOf(bench, (type, json, key) => {
      if (type !== 'test') throw new NoSuchThingError(`${type} is no model`, { where: key });
      return json as object;
    })('POST /scheduler/plan', body);

  it('returns the operations and applies nothing', async () => {
    const bench = await makeBench();
    const { status, body } = await plan(bench, {
      mode: 'update',
      values: { 'b/9': { type: 'test', value: { v: 1 } }, 'a/1': null },
    });
    assert.equal(status, 200);
    assert.deepEqual(
      body.Operations.map((one: Record<string, string>) => `${one['Operation']} ${one['Key']}`),
      ['DELETE d/a1.0', 'DELETE a/1', 'CREATE b/9', 'CREATE a/2'],
    );
    assert.equal(body.Operations[3].Reason, 'dependency met: b/9');
    assert.deepEqual([body.Refused, body.Unknown], [[], []]);
    assert.equal(bench.state('b/9'), 'NONEXISTENT');
    assert.equal(bench.scheduler.history().length, 2);
  });

  it('describes the accepted body', async () => {
    const cases: [unknown, RegExp][] = [
      [undefined, /the body must be \{"mode"/],
      [[], /the body must be/],
      [{ mode: 'update' }, /values are missing/],
      [{ values: {} }, /mode undefined must be "update" or "resync"/],
      [{ mode: 'full', values: {} }, /mode "full" must be/],
      [{ mode: 'update', values: {}, dryRun: true }, /unknown field dryRun/],
      [{ mode: 'update', values: { k: 7 } }, /k: must be \{"type"/],
      [{ mode: 'update', values: { k: { type: 'test' } } }, /k: must be \{"type"/],
      [{ mode: 'update', values: { k: { type: 'x', value: {} } } }, /k: x is no model/],
      [{ mode: 'resync', values: { k: null } }, /k: a resync has null/],
    ];
    for (const [body, text] of cases) {
      const answer = await plan(setUp(), body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.match(answer.text, text);
    }
  });
});
