import assert from 'node:assert/strict';
import test from 'node:test';
import { type Fields, IndexMap, type MappingEvent } from '#infra/idxmap/idxmap.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';

interface Link {
  readonly index: number;
  readonly addresses: readonly string[];
}

const fieldsOf = (link: Link): Fields => ({
  index: [String(link.index)],
  address: link.addresses,
});

function setUp(log: Logger = silentLogger) {
  const map = new IndexMap<Link>('links', log, fieldsOf);
  const events: MappingEvent<Link>[] = [];
  const stop = map.watch('test', (event) => events.push(event));
  return { map, events, stop };
}

const a: Link = { index: 1, addresses: ['10.0.0.1', '10.0.0.2'] };
const b: Link = { index: 2, addresses: ['10.0.0.2'] };

test('finds items by name and by each value of a secondary index', () => {
  const { map } = setUp();
  map.put('a', a);
  map.put('b', b);
  assert.equal(map.size, 2);
  assert.equal(map.getValue('a'), a);
  assert.equal(map.has('c'), false);
  assert.deepEqual(map.listAllNames(), ['a', 'b']);
  assert.deepEqual(map.listNames('address', '10.0.0.2'), ['a', 'b']);
  assert.deepEqual(map.listNames('index', '2'), ['b']);
  assert.deepEqual(map.listNames('index', '3'), []);
  assert.deepEqual(map.listNames('color', 'red'), []);
  assert.deepEqual(map.listFields('b'), { index: ['2'], address: ['10.0.0.2'] });
  assert.deepEqual(map.listFields('c'), {});
});

test('an overwritten item is removed from its old index entries', () => {
  const { map } = setUp();
  map.put('a', a);
  map.put('a', { index: 7, addresses: [] });
  assert.deepEqual(map.listNames('index', '1'), []);
  assert.deepEqual(map.listNames('address', '10.0.0.1'), []);
  assert.deepEqual(map.listNames('index', '7'), ['a']);
});

test('events distinguish new, overwritten and deleted items', () => {
  const { map, events, stop } = setUp();
  map.put('a', a);
  map.put('a', b);
  assert.equal(map.update('a', a), true);
  assert.equal(map.update('b', b), false);
  assert.equal(map.delete('a'), a);
  assert.equal(map.delete('a'), undefined);
  assert.deepEqual(
    events.map(({ name, value, update, del }) => [name, value.index, update, del]),
    [
      ['a', 1, false, false],
      ['a', 2, true, false],
      ['a', 1, true, false],
      ['a', 1, false, true],
    ],
  );
  stop();
  map.put('b', b);
  assert.equal(events.length, 4);
});

test('clear notifies of every deleted item', () => {
  const { map, events } = setUp();
  map.put('a', a);
  map.put('b', b);
  events.length = 0;
  map.clear();
  assert.equal(map.size, 0);
  assert.deepEqual(map.listNames('address', '10.0.0.2'), []);
  assert.deepEqual(
    events.map(({ name, del }) => [name, del]),
    [
      ['a', true],
      ['b', true],
    ],
  );
});

test('a second watcher with the same name is rejected; a failing one does not affect others', () => {
  const errors: unknown[] = [];
  const { map, events } = setUp({
    ...silentLogger,
    error: (fields: object) => errors.push(fields),
  });
  assert.throws(() => map.watch('test', () => undefined), { code: 'CV_IDXMAP_SUBSCRIBER_EXISTS' });
  map.watch('bad', () => {
    throw new Error('no');
  });
  const late: string[] = [];
  map.watch('late', ({ name }) => late.push(name));
  map.put('a', a);
  assert.equal(map.getValue('a'), a);
  assert.equal(events.length, 1);
  assert.deepEqual(late, ['a']);
  assert.deepEqual(errors, [{ map: 'links', subscriber: 'bad', name: 'a', error: 'no' }]);
});

test('stopping a watch does not stop a later one with the same name', () => {
  const { map, stop, events } = setUp();
  stop();
  const again: string[] = [];
  map.watch('test', ({ name }) => again.push(name));
  stop();
  map.put('a', a);
  assert.deepEqual(again, ['a']);
  assert.equal(events.length, 0);
});

test('a watcher that changes the map does not reverse the order of changes for the others', () => {
  const map = new IndexMap<number>('numbers', silentLogger);
  map.watch('first', ({ name, value }) => {
    if (value < 3) map.put(name, value + 1);
  });
  const values: number[] = [];
  map.watch('second', ({ value }) => values.push(value));
  map.put('a', 1);
  assert.deepEqual(values, [1, 2, 3]);
  assert.equal(map.getValue('a'), 3);
});

test('a watcher that is added or stopped within a callback gets only the changes of its time', () => {
  const map = new IndexMap<number>('numbers', silentLogger);
  const found: string[] = [];
  let stop = () => {};
  let isAdded = false;
  map.watch('first', () => {
    stop();
    if (!isAdded) map.watch('late', ({ value }) => found.push(`late ${value}`));
    isAdded = true;
  });
  stop = map.watch('stopped', ({ value }) => found.push(`stopped ${value}`));
  map.put('a', 1);
  map.put('a', 2);
  assert.deepEqual(found, ['late 2']);
});

test('an item may be undefined', () => {
  const map = new IndexMap<undefined>('nothing', silentLogger, () => ({ kind: ['none'] }));
  const events: boolean[] = [];
  map.watch('test', ({ del }) => events.push(del));
  map.put('a', undefined);
  assert.deepEqual(
    [map.listFields('a'), map.listNames('kind', 'none')],
    [{ kind: ['none'] }, ['a']],
  );
  map.delete('a');
  assert.deepEqual([map.size, map.listNames('kind', 'none'), events], [0, [], [false, true]]);
});
