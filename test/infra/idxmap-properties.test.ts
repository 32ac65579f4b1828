/** Random scripts of calls, compared with a map without indexes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CacheHelper } from '#infra/idxmap/cache.ts';
import { IndexMap, type MappingEvent, type NamedMapping } from '#infra/idxmap/idxmap.ts';
import { silentLogger } from '#infra/log/log.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { retainedBytes } from '#test/support/retained-bytes.ts';

interface Item {
  readonly color: string;
  readonly sizes: readonly string[];
}

const FILE = 'test/infra/idxmap-properties.test.ts';
const colors = ['red', 'blue', '', 'constructor'];
const sizes = ['s', 'm', 'l'];
const names = fc.constantFrom('a', 'b', 'c', '__proto__', '');
const items: fc.Arbitrary<Item> = fc.record({
  color: fc.constantFrom(...colors),
  sizes: fc.array(fc.constantFrom(...sizes), { maxLength: 3 }),
});
const fieldsOf = ({ color, sizes: all }: Item) => ({ color: [color], size: all });

/** Compares all that can be read. */
function assertSame(map: NamedMapping<Item>, model: Map<string, Item>) {
  assert.equal(map.size, model.size);
  assert.deepEqual(map.listAllNames().toSorted(), [...model.keys()].toSorted());
  const having = (test: (item: Item) => boolean) =>
    [...model]
      .filter(([, item]) => test(item))
      .map(([name]) => name)
      .toSorted();
  for (const color of colors)
    assert.deepEqual(
      map.listNames('color', color).toSorted(),
      having((item) => item.color === color),
    );
  for (const size of sizes)
    assert.deepEqual(
      map.listNames('size', size).toSorted(),
      having((item) => item.sizes.includes(size)),
    );
  for (const [name, item] of model) {
    assert.equal(map.getValue(name), item);
    assert.deepEqual(map.listFields(name), fieldsOf(item));
  }
}

const calls = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ call: fc.constant('put' as const), name: names, item: items }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ call: fc.constant('update' as const), name: names, item: items }),
  },
  { weight: 3, arbitrary: fc.record({ call: fc.constant('delete' as const), name: names }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('clear' as const) }) },
);

test('an index map has the content and the indexes of a plain map, and its events rebuild it', async () => {
  const name = 'an index map has the content';
  await checkProperty(
    { file: FILE, name },
    500,
    fc.asyncProperty(fc.array(calls, { maxLength: 40 }), async (script) => {
      const map = new IndexMap<Item>('items', silentLogger, fieldsOf);
      const model = new Map<string, Item>();
      const rebuilt = new Map<string, Item>();
      map.watch('copy', (event: MappingEvent<Item>) => {
        assert.equal(event.update, rebuilt.has(event.name) && !event.del);
        if (!event.del) rebuilt.set(event.name, event.value);
        else {
          assert.equal(rebuilt.get(event.name), event.value);
          rebuilt.delete(event.name);
        }
      });
      for (const step of script) {
        if (step.call === 'put') {
          map.put(step.name, step.item);
          model.set(step.name, step.item);
        } else if (step.call === 'update') {
          assert.equal(map.update(step.name, step.item), model.has(step.name));
          if (model.has(step.name)) model.set(step.name, step.item);
        } else if (step.call === 'delete') {
          assert.equal(map.delete(step.name), model.get(step.name));
          model.delete(step.name);
        } else {
          map.clear();
          model.clear();
        }
        assertSame(map, model);
        assert.deepEqual(rebuilt, model);
      }
    }),
  );
});

test('a cache has the last valid values after any changes and resyncs', async () => {
  const name = 'a cache has the last valid values';
  const entries = fc.array(
    fc.record({ name: names, value: fc.option(items, { nil: undefined }) }),
    {
      maxLength: 6,
    },
  );
  const steps = fc.record({ isResync: fc.boolean(), entries });
  await checkProperty(
    { file: FILE, name },
    500,
    fc.asyncProperty(fc.array(steps, { maxLength: 12 }), async (script) => {
      const cache = new CacheHelper<Item>({
        title: 'items',
        log: silentLogger,
        prefix: 'item/',
        parse: (text) => JSON.parse(text) as Item,
        fieldsOf,
      });
      const model = new Map<string, string>();
      const isKept = (key: string, last: ReadonlyMap<string, unknown>) => last.has(key);
      for (const { isResync, entries: found } of script) {
        if (isResync) {
          // A value that is not valid leaves the one before.
          const last = new Map(found.map((entry) => [entry.name, entry.value]));
          const list = [...last].map(([key, value]) => ({
            key: `item/${key}`,
            value: value ? JSON.stringify(value) : 'invalid',
          }));
          cache.resync(list);
          for (const known of [...model.keys()]) if (!isKept(known, last)) model.delete(known);
          for (const [key, value] of last) if (value) model.set(key, JSON.stringify(value));
        } else {
          const changes = found.map(({ name: key, value }) => ({
            key: `item/${key}`,
            value: value && JSON.stringify(value),
          }));
          cache.change(changes);
          for (const { name: key, value } of found)
            if (value) model.set(key, JSON.stringify(value));
            else model.delete(key);
        }
        const { map } = cache;
        assert.deepEqual(map.listAllNames().toSorted(), [...model.keys()].toSorted());
        for (const [key, text] of model) assert.equal(JSON.stringify(map.getValue(key)), text);
        for (const color of colors)
          assert.deepEqual(
            map.listNames('color', color).toSorted(),
            [...model]
              .filter(([, text]) => (JSON.parse(text) as Item).color === color)
              .map(([key]) => key)
              .toSorted(),
          );
      }
    }),
  );
});

test('a million changes leave nothing behind', () => {
  const map = new IndexMap<Item>('items', silentLogger, fieldsOf);
  map.watch('copy', () => undefined);
  const round = () => {
    for (let at = 0; at < 250_000; at++)
      map.put(String(at % 1000), { color: String(at), sizes: ['s', String(at % 7)] });
    map.clear();
  };
  round();
  const before = retainedBytes();
  for (let at = 0; at < 3; at++) round();
  const grown = retainedBytes() - before;
  assert.ok(grown < 1024 * 1024, `${grown} bytes`);
  assert.deepEqual([map.size, map.listNames('size', 's')], [0, []]);
});
