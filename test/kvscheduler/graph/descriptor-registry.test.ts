import assert from 'node:assert/strict';
import test from 'node:test';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import { Registry } from '#kvscheduler/graph/descriptor-registry.ts';

const descriptor = (
  name: string,
  keyPrefixes: string[],
  more: Partial<AnyDescriptor> = {},
): AnyDescriptor => ({ name, keyPrefixes, typeName: `test.${name}`, ...more });

test('a key is owned by the descriptor with a prefix of it that accepts it', () => {
  const registry = new Registry([
    descriptor('interface', ['config/interface/']),
    descriptor('address', ['vpp/interface/'], { ownsKey: (key) => key.includes('/address/') }),
    descriptor('link', ['vpp/interface/'], { ownsKey: (key) => key.includes('/link/') }),
    descriptor('both', ['x/', 'y/', 'x/y/']),
  ]);
  const names = [
    'config/interface/a',
    'vpp/interface/a/address/1',
    'vpp/interface/a/link/up',
    'x/1',
    'x/y/1',
    'y/1',
  ].map((key) => registry.find(key)?.name);
  assert.deepEqual(names, ['interface', 'address', 'link', 'both', 'both', 'both']);
  assert.equal(registry.find('config/interfac'), undefined);
  assert.equal(registry.find('vpp/interface/a/other'), undefined);
  assert.equal(registry.named('link')?.name, 'link');
});

test('two descriptors for one key are rejected when they are registered', () => {
  const twice = { code: 'CV_SCHED_TWO_DESCRIPTORS' };
  assert.throws(() => new Registry([descriptor('a', ['x/']), descriptor('b', ['x/'])]), twice);
  assert.throws(() => new Registry([descriptor('a', ['x/y/']), descriptor('b', ['x/'])]), twice);
  const all = { ownsKey: () => true };
  assert.throws(
    () => new Registry([descriptor('a', ['x/']), descriptor('b', ['x/y/'], all)]),
    twice,
  );
  assert.throws(() => new Registry([descriptor('a', ['x/']), descriptor('a', ['y/'])]), {
    code: 'CV_SCHED_DESCRIPTOR_EXISTS',
  });
});

test('an overlap that shows only with a real key is rejected with that key', () => {
  const registry = new Registry([
    descriptor('a', ['x/'], { ownsKey: (key) => key.endsWith('1') }),
    descriptor('b', ['x/'], { ownsKey: (key) => key.endsWith('11') }),
  ]);
  assert.equal(registry.find('x/1')?.name, 'a');
  assert.throws(() => registry.find('x/11'), { code: 'CV_SCHED_TWO_DESCRIPTORS', where: 'x/11' });
});

test('the southbound is read in the order of retrieveDependencies, else by name', () => {
  const registry = new Registry([
    descriptor('d', ['d/'], { retrieveDependencies: ['c', 'absent'] }),
    descriptor('c', ['c/'], { retrieveDependencies: ['z'] }),
    descriptor('z', ['z/']),
    descriptor('a', ['a/']),
  ]);
  assert.deepEqual(
    registry.descriptors.map(({ name }) => name),
    ['a', 'z', 'c', 'd'],
  );
  const circle = [
    descriptor('a', ['a/'], { retrieveDependencies: ['b'] }),
    descriptor('b', ['b/'], { retrieveDependencies: ['a'] }),
  ];
  assert.throws(() => new Registry(circle), {
    code: 'CV_SCHED_RETRIEVE_CYCLE',
    message: /a -> b -> a/,
  });
});
