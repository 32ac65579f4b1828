import assert from 'node:assert/strict';
import test from 'node:test';
import { operationsOf, setUp, withDescriptor } from './support/setup.ts';

const full = { mode: 'full-resync' } as const;

test('an empty resync of an empty southbound does nothing', async () => {
  const bench = setUp();
  assert.deepEqual(await bench.calls({}, full), []);
  const { SeqNum, ResyncType, Executed, Planned, Values } = bench.lastRecord();
  assert.deepEqual(
    [SeqNum, ResyncType, Executed, Planned, Values],
    [0, 'FullResync', undefined, undefined, undefined],
  );
  assert.deepEqual(bench.southbound.retrieves.map(({ descriptor }) => descriptor).toSorted(), [
    'alpha',
    'beta',
  ]);
});

test('found managed values are adopted, updated or deleted; unmanaged ones are left alone', async () => {
  const bench = setUp({ window: 1 });
  const { values } = bench.southbound;
  values.set('a/1', { managed: true, spec: { v: 1 } });
  values.set('a/2', { managed: true, spec: { v: 1 } });
  values.set('a/3', { managed: true, spec: { v: 1 } });
  values.set('a/4', { managed: false, spec: { v: 1 } });
  values.set('a/5', { managed: false, spec: { v: 1 } });
  const calls = await bench.calls(
    { 'a/1': { v: 1 }, 'a/2': { v: 2 }, 'a/5': { v: 2 }, 'b/1': { v: 1, needs: ['a/4'] } },
    full,
  );
  assert.deepEqual(calls, ['DELETE a/3', 'CREATE b/1', 'UPDATE a/2', 'UPDATE a/5']);
  assert.deepEqual(operationsOf(bench.lastRecord()), [
    'DELETE a/3 REMOVED',
    'CREATE b/1 CONFIGURED',
    'UPDATE a/2 CONFIGURED',
    'UPDATE a/5 CONFIGURED',
  ]);
  assert.deepEqual(
    bench.lastRecord().Executed?.map(({ PrevState, Reason }) => [PrevState, Reason]),
    [
      ['DISCOVERED', 'leftover'],
      [undefined, 'changed'],
      ['DISCOVERED', 'changed'],
      ['OBTAINED', 'changed'],
    ],
  );
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.scheduler.status('a/1').value.last_operation, 'UPDATE');
  assert.equal(bench.state('a/4'), 'OBTAINED');
  assert.equal(bench.scheduler.status('a/4').value.last_operation, undefined);
  assert.deepEqual(
    bench.lastRecord().Values?.map(({ Key, Origin }) => [Key, Origin]),
    [
      ['a/1', 1],
      ['a/2', 1],
      ['a/3', 1],
      ['a/4', 2],
      ['a/5', 1],
      ['b/1', 1],
    ],
  );
});

test('the second full resync does nothing', async () => {
  const bench = setUp();
  const desired = {
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1, needs: ['a/9'] } } },
    'a/2': { v: 1, needs: ['a/9'] },
    'a/3': { v: 1, invalid: true },
    'b/1': { v: 1, needs: ['d/a1.0'] },
    'z/1': { v: 1 },
  };
  await bench.commit(desired, full);
  for (const mode of ['full-resync', 'upstream-resync', 'full-resync'] as const) {
    assert.deepEqual(await bench.commit(structuredClone(desired), { mode }), []);
    assert.equal(bench.lastRecord().Executed, undefined, mode);
  }
});

test('a value that the southbound lost is MISSING until it is created again', async () => {
  const bench = setUp({ window: 1 });
  await bench.commit({
    'a/1': { v: 1, derives: { 'd/a1.0': { v: 1 } } },
    'b/1': { v: 1, needs: ['a/1'] },
  });
  bench.southbound.values.clear();
  bench.southbound.fails = (verb) => (verb === 'CREATE' ? new Error('no') : undefined);
  await bench.commit({}, { mode: 'downstream-resync' });
  assert.equal(bench.lastRecord().Executed?.[0]?.PrevState, 'MISSING');
  assert.equal(bench.lastRecord().Executed?.[0]?.Reason, 'missing');
  assert.equal(bench.state('a/1'), 'FAILED');
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
  bench.southbound.fails = () => undefined;
  const calls = await bench.calls({}, { mode: 'downstream-resync' });
  assert.deepEqual(calls, ['CREATE a/1', 'CREATE b/1', 'CREATE d/a1.0']);
});

test('an upstream resync does not read the southbound', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } }, full);
  bench.southbound.retrieves.length = 0;
  const calls = await bench.calls({ 'a/1': { v: 2 } }, { mode: 'upstream-resync' });
  assert.deepEqual(calls, ['DELETE a/2', 'UPDATE a/1']);
  assert.deepEqual(bench.southbound.retrieves, []);
});

test('a downstream resync reconciles without a list of desired values', async () => {
  const bench = setUp({ window: 1 });
  const derives = { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1 } };
  await bench.commit({ 'a/1': { v: 1, derives }, 'a/2': { v: 1 }, 'a/3': { v: 1 } });
  const { values } = bench.southbound;
  values.set('a/2', { managed: true, spec: { v: 8 } });
  values.delete('a/3');
  values.delete('d/a1.1');
  values.set('a/4', { managed: true, spec: { v: 1 } });
  const calls = await bench.calls({}, { mode: 'downstream-resync' });
  assert.deepEqual(calls, ['DELETE a/4', 'CREATE a/3', 'CREATE d/a1.1', 'UPDATE a/2']);
  assert.equal(bench.lastRecord().ResyncType, 'DownstreamResync');
  assert.equal(bench.lastRecord().Values, undefined);
});

test('a descriptor that cannot read is assumed to be in sync, and reported', async () => {
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1 } }, full);
  bench.southbound.values.clear();
  bench.southbound.retrieveFails = (name) => (name === 'alpha' ? new Error('gone') : undefined);
  bench.southbound.calls.length = 0;
  const failures = await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1 } }, full);
  assert.deepEqual(failures, ['a/ (UNDEFINED): gone']);
  assert.deepEqual(bench.southbound.takeCalls(), ['CREATE b/1']);
  assert.deepEqual(bench.lastRecord().RetrieveErrors, ['a/: gone']);
});

test('of two derived values with one key, the first counts', async () => {
  const derived = () => [1, 2].map((v) => ({ key: 'd/x', value: { v } }));
  const bench = setUp({ verify: true }, withDescriptor('alpha', { derived }));
  assert.deepEqual(await bench.commit({ 'a/1': { v: 1 } }), []);
  assert.deepEqual(bench.southbound.takeCalls(), ['CREATE a/1', 'CREATE d/x']);
  assert.deepEqual(await bench.calls({}, { mode: 'downstream-resync' }), []);
});

test('malformed retrieved values are ignored', async () => {
  const retrieve = async () => [
    { key: '', value: { v: 1 } },
    { key: 'a/1', value: { v: 1 }, origin: 'from-SB' as const },
    { key: 'a/1', value: { v: 2 } },
    { key: 'a/2', value: null as never },
    { key: 'b/1', value: { v: 1 } },
  ];
  const bench = setUp({}, withDescriptor('alpha', { retrieve }));
  await bench.commit({}, full);
  assert.deepEqual(
    bench.scheduler.statuses().map(({ value }) => value.key),
    ['a/1'],
  );
  assert.equal(bench.logged.length, 4);
});

test('the origin of a value: by the descriptor, else by the desired state, else by what was known', async () => {
  let found = [
    { key: 'a/1', value: { v: 1 } },
    { key: 'a/2', value: { v: 1 } },
  ];
  const bench = setUp({}, withDescriptor('alpha', { retrieve: async () => found }));
  await bench.commit({ 'a/1': { v: 1 } }, full);
  assert.equal(bench.state('a/1'), 'CONFIGURED');
  assert.equal(bench.state('a/2'), 'OBTAINED');
  assert.deepEqual(await bench.calls({}, full), ['DELETE a/1']);
  found = [{ key: 'a/2', value: { v: 2 } }];
  await bench.commit({}, full);
  assert.equal(bench.state('a/2'), 'OBTAINED');
  found = [];
  await bench.commit({}, full);
  assert.deepEqual(bench.scheduler.statuses(), []);
});

test('descriptors are read in the order of retrieveDependencies, independent ones at the same time', async () => {
  const order: string[] = [];
  const reader = (name: string) => async () => {
    order.push(`${name} asked`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} answers`);
    return [];
  };
  const bench = setUp({}, (descriptors) => {
    const [alpha, beta] = descriptors;
    assert.ok(alpha && beta);
    return [
      { ...alpha, retrieve: reader('alpha'), retrieveDependencies: ['beta', 'unregistered'] },
      { ...beta, retrieve: reader('beta'), retrieveDependencies: [] },
      {
        ...beta,
        name: 'gamma',
        keyPrefixes: ['c/'],
        retrieve: reader('gamma'),
        retrieveDependencies: [],
      },
    ];
  });
  await bench.commit({}, full);
  assert.deepEqual(order, [
    'beta asked',
    'gamma asked',
    'beta answers',
    'alpha asked',
    'gamma answers',
    'alpha answers',
  ]);
});

test('a retrieve reads the metadata of its retrieveDependencies, new or known', async () => {
  const seen: unknown[] = [];
  const bench = setUp({}, (descriptors) =>
    descriptors.map((one) => {
      if (one.name !== 'beta') return one;
      const retrieve: typeof one.retrieve = async (correlate, context) => {
        seen.push([...context.retrieved('alpha')]);
        assert.throws(() => context.retrieved('derived'), { code: 'CV_SCHED_UNDECLARED_READ' });
        return one.retrieve?.(correlate, context) ?? [];
      };
      return { ...one, retrieve };
    }),
  );
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': { v: 1 } });
  bench.southbound.renumber('a/1', 42);
  await bench.commit({}, { mode: 'downstream-resync' });
  assert.equal(bench.scheduler.metadataMap('alpha')?.getValue('1'), 42);
  bench.southbound.fails = (_verb, key) => (key === 'b/2' ? new Error('no') : undefined);
  await bench.commit({ 'b/2': { v: 1 } });
  assert.deepEqual(seen, [[['a/1', 42]], [['a/1', 42]]]);
});

test('a retrieve reads the known metadata of values that are not read', async () => {
  const seen: unknown[] = [];
  const bench = setUp({}, (descriptors) =>
    descriptors.map((one) => {
      const retrieve: typeof one.retrieve = async (correlate, context) => {
        if (one.name === 'beta') seen.push([...context.retrieved('alpha')].sort());
        const all = (await one.retrieve?.(correlate, context)) ?? [];
        return all.filter(({ key }) => context.only?.has(key) ?? true);
      };
      return { ...one, retrieve };
    }),
  );
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
  bench.southbound.renumber('a/1', 41);
  bench.southbound.renumber('a/2', 42);
  await bench.commit({}, { mode: 'downstream-resync' });
  seen.length = 0;
  bench.southbound.fails = () => new Error('no');
  await bench.commit({ 'a/1': { v: 2 }, 'b/1': { v: 1 } });
  const all = [
    ['a/1', 41],
    ['a/2', 42],
  ];
  assert.deepEqual(seen, [all]);
});

test('an unmanaged value has the metadata with which it was found', async () => {
  const bench = setUp(
    {},
    withDescriptor('alpha', {
      retrieve: async () => [{ key: 'a/f', value: { v: 1 }, metadata: 42, origin: 'from-SB' }],
    }),
  );
  for (const mode of ['full-resync', 'downstream-resync'] as const) {
    await bench.commit({}, { mode });
    assert.equal(bench.state('a/f'), 'OBTAINED');
    assert.equal(bench.scheduler.metadataMap('alpha')?.getValue('f'), 42, mode);
  }
});

test('a retrieve gets known values, else desired ones', async () => {
  const told: string[][] = [];
  const bench = setUp(
    {},
    withDescriptor('alpha', {
      retrieve: async (correlate) => {
        told.push(correlate.map(({ key, value }) => `${key} ${(value as { v: number }).v}`).sort());
        return [{ key: 'a/1', value: { v: 1 }, origin: 'from-NB' }];
      },
    }),
  );
  await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1, needs: ['a/9'] } }, full);
  await bench.commit({ 'a/1': { v: 2 }, 'a/2': { v: 2, needs: ['a/9'] }, 'a/3': { v: 3 } }, full);
  assert.deepEqual(told, [
    ['a/1 1', 'a/2 1'],
    ['a/1 1', 'a/2 2', 'a/3 3'],
  ]);
});

test('orphans of an earlier run are deleted with their derived values', async () => {
  const bench = setUp({ window: 1 });
  const { values } = bench.southbound;
  const derives = { 'd/a1.0': { v: 1 } };
  values.set('a/1', { managed: true, spec: { v: 1, derives } });
  values.set('d/a1.0', { managed: true, spec: { v: 1 } });
  values.set('b/1', { managed: true, spec: { v: 1, needs: ['d/a1.0'] } });
  const calls = await bench.calls({ 'b/1': { v: 1, needs: ['d/a1.0'] } }, full);
  assert.deepEqual(calls, ['DELETE b/1', 'DELETE d/a1.0', 'DELETE a/1']);
  assert.equal(bench.state('b/1'), 'PENDING [d/a1.0]');
  assert.deepEqual(bench.southbound.violations, []);
});

test('failures to read are reported in the same order, whichever failed first', async () => {
  const errorsOf = async (first: string) => {
    const independent = withDescriptor('beta', { retrieveDependencies: [] });
    const bench = setUp({}, (descriptors) =>
      independent(descriptors).map((one) => ({
        ...one,
        retrieve: async () => {
          if (one.name !== first) await bench.clock.turn();
          throw new Error(`${one.name} is mute`);
        },
      })),
    );
    await bench.commit({}, { mode: 'full-resync' });
    return bench.lastRecord().RetrieveErrors;
  };
  assert.deepEqual(await errorsOf('beta'), await errorsOf('alpha'));
});

test('what needs a lost value that the same resync drops is removed and stays pending', async () => {
  const needsLost = { v: 1, needs: ['a/1'] };
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': needsLost });
  bench.southbound.values.delete('a/1');
  assert.deepEqual(await bench.calls({ 'b/1': needsLost }, full), ['DELETE b/1']);
  assert.equal(bench.state('a/1'), 'NONEXISTENT');
  assert.equal(bench.state('b/1'), 'PENDING [a/1]');
  assert.deepEqual(await bench.calls({ 'b/1': needsLost }, full), []);
});

test('a lost value that the same resync makes invalid is created again as it was, with its dependents', async () => {
  const needsLost = { v: 1, needs: ['a/1'] };
  const bench = setUp();
  await bench.commit({ 'a/1': { v: 1 }, 'b/1': needsLost });
  bench.southbound.values.delete('a/1');
  const desired = { 'a/1': { v: 2, invalid: true }, 'b/1': needsLost };
  assert.deepEqual(await bench.calls(desired, full), ['DELETE b/1', 'CREATE a/1', 'CREATE b/1']);
  assert.equal(bench.state('a/1'), 'INVALID [invalid] last valid CONFIGURED');
  assert.equal(bench.state('b/1'), 'CONFIGURED');
  assert.deepEqual(await bench.calls(desired, full), []);
});

for (const [how, resync] of [
  ['drops', {}],
  ['makes pending', { 'a/1': { v: 2, needs: ['a/9'] } }],
] as const)
  test(`no derived value of a lost value is left when the same resync ${how} it`, async () => {
    const bench = setUp();
    const derives = { 'd/a1.0': { v: 1 }, 'p/a1': { v: 1 } };
    const dependents = { 'b/1': { v: 1, needs: ['d/a1.0'] }, 'b/2': { v: 1, needs: ['p/a1'] } };
    await bench.commit({ 'a/1': { v: 1, derives }, ...dependents });
    for (const key of ['a/1', 'd/a1.0']) bench.southbound.values.delete(key);
    const calls = await bench.calls({ ...resync, ...dependents }, full);
    assert.deepEqual(calls, ['DELETE b/1', 'DELETE b/2']);
    assert.equal(bench.state('b/1'), 'PENDING [d/a1.0]');
    assert.equal(bench.state('b/2'), 'PENDING [p/a1]');
    assert.deepEqual(bench.scheduler.status('a/1').derived_values, undefined);
    assert.deepEqual(await bench.calls({ ...resync, ...dependents }, full), []);
  });

test('dependents of dependents of a lost and dropped value are removed with it', async () => {
  const bench = setUp();
  const dependents = {
    'a/2': { v: 1, needs: ['a/1'], derives: { 'd/a2.0': { v: 1 } } },
    'b/1': { v: 1, needs: ['a/2'] },
    'b/2': { v: 1, needs: ['d/a2.0'] },
  };
  await bench.commit({ 'a/1': { v: 1 }, ...dependents });
  bench.southbound.values.delete('a/1');
  const calls = await bench.calls(dependents, full);
  assert.deepEqual(calls.toSorted(), ['DELETE a/2', 'DELETE b/1', 'DELETE b/2', 'DELETE d/a2.0']);
  assert.equal(calls.at(-1), 'DELETE a/2');
  assert.equal(bench.state('a/2'), 'PENDING [a/1]');
  assert.equal(bench.state('b/1'), 'PENDING [a/2]');
  assert.equal(bench.state('b/2'), 'PENDING [d/a2.0]');
  assert.deepEqual(await bench.calls({ 'a/1': { v: 1 }, ...dependents }, full), [
    'CREATE a/1',
    'CREATE a/2',
    'CREATE b/1',
    'CREATE d/a2.0',
    'CREATE b/2',
  ]);
});

test('a value that is found without its dependency is recreated after the dependency', async () => {
  const bench = setUp();
  const { values } = bench.southbound;
  values.set('b/1', { managed: true, spec: { v: 1, needs: ['a/1'] } });
  values.set('b/2', { managed: true, spec: { v: 1, needs: ['b/1'] } });
  values.set('b/3', { managed: true, spec: { v: 1, any: ['a/'] } });
  values.set('a/2', { managed: true, spec: { v: 1 } });
  const calls = await bench.calls(
    {
      'a/1': { v: 1 },
      'a/2': { v: 1 },
      'b/1': { v: 1, needs: ['a/1'] },
      'b/2': { v: 1, needs: ['b/1'] },
      'b/3': { v: 1, any: ['a/'] },
    },
    full,
  );
  assert.deepEqual(calls, ['DELETE b/2', 'DELETE b/1', 'CREATE a/1', 'CREATE b/1', 'CREATE b/2']);
  for (const key of ['a/1', 'a/2', 'b/1', 'b/2', 'b/3'])
    assert.equal(bench.state(key), 'CONFIGURED');
});
