import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AddressNumber, AddressSet, addressNumber } from '#plugins/policy/address-set.ts';
import { checkProperty } from '../../support/random-cases.ts';

const FILE = 'test/plugins/policy/address-set.test.ts';

const prefixesOf = (...prefixes: string[]) => AddressSet.of(prefixes).prefixes();

test('addresses are numbers of type number for IPv4 and bigint for IPv6', () => {
  assert.equal(addressNumber('10.1.2.3'), 0x0a010203);
  assert.equal(addressNumber('255.255.255.255'), 0xffff_ffff);
  assert.equal(addressNumber('::1'), 1n);
  assert.equal(addressNumber('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), (1n << 128n) - 1n);
  assert.equal(addressNumber('::ffff:10.1.2.3'), 0x0a010203);
  assert.equal(addressNumber('10.1.2.3/32'), undefined);
  assert.equal(addressNumber('10.1.2'), undefined);
  assert.equal(addressNumber(''), undefined);
});

test('prefixes are the fewest, ascending, IPv4 first; host bits and invalid texts are ignored', () => {
  assert.deepEqual(
    prefixesOf('fd00::2', '10.0.1.0/24', '10.0.0.7/24', 'no address', '10.0.0.0/33'),
    ['10.0.0.0/23', 'fd00::2/128'],
  );
  assert.deepEqual(prefixesOf('10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'), [
    '10.0.0.1/32',
    '10.0.0.2/31',
    '10.0.0.4/32',
  ]);
  assert.deepEqual(prefixesOf('0.0.0.0/1', '128.0.0.0/1', '8000::/1', '::/1'), [
    '0.0.0.0/0',
    '::/0',
  ]);
  assert.ok(AddressSet.of(['::/0', '0.0.0.0/0']).equals(AddressSet.any));
  assert.deepEqual(AddressSet.none.prefixes(), []);
});

test('families are not mixed: ::a00:1 and 10.0.0.1 have equal numbers', () => {
  const v6 = AddressSet.of(['::a00:1']);
  assert.equal(v6.has(addressNumber('10.0.0.1')!), false);
  assert.equal(v6.has(addressNumber('::a00:1')!), true);
  assert.deepEqual(v6.minus(AddressSet.of(['10.0.0.1'])).prefixes(), ['::a00:1/128']);
  assert.deepEqual(prefixesOf('255.255.255.255', '::'), ['255.255.255.255/32', '::/128']);
  assert.equal(v6.equals(AddressSet.of(['10.0.0.1'])), false);
});

test('exceptions are taken out of a block', () => {
  const block = AddressSet.of(['10.0.0.0/29']).minus(AddressSet.of(['10.0.0.2/31', '10.0.0.7/32']));
  assert.deepEqual(block.prefixes(), ['10.0.0.0/31', '10.0.0.4/31', '10.0.0.6/32']);
  assert.ok(block.minus(AddressSet.any).isEmpty);
  assert.ok(block.minus(AddressSet.none).equals(block));
});

/** Windows of 256 addresses, also at both ends of each family. */
const windows = [
  0,
  0x0a00_0000,
  0xffff_ff00,
  0n,
  0x0a00_0000n,
  0xfd00n << 112n,
  (1n << 128n) - 256n,
] as const;

const at = (window: AddressNumber, offset: number): AddressNumber =>
  typeof window === 'number' ? window + offset : window + BigInt(offset);

const textAt = (window: number, offset: number): string =>
  AddressSet.ofAddresses([at(windows[window]!, offset)])
    .prefixes()[0]!
    .split('/')[0]!;

type Part = readonly [window: number, offset: number, size: number];

/** Prefixes in a window: `size` is the number of free bits. */
const someParts = fc.array(
  fc.tuple(fc.nat(windows.length - 1), fc.nat(255), fc.constantFrom(0, 0, 0, 1, 2, 3, 5, 8)),
  { maxLength: 12 },
) as fc.Arbitrary<Part[]>;

class Model {
  readonly members = windows.map(() => new Array<boolean>(256).fill(false));

  static of(parts: readonly Part[]): Model {
    const model = new Model();
    for (const [window, offset, size] of parts)
      for (let one = 0; one < 256; one++)
        if (one >> size === offset >> size) model.members[window]![one] = true;
    return model;
  }

  static from(isMember: (window: number, offset: number) => boolean): Model {
    const model = new Model();
    for (const [window, list] of model.members.entries())
      for (const offset of list.keys()) list[offset] = isMember(window, offset);
    return model;
  }
}

const setOf = (parts: readonly Part[]) =>
  AddressSet.of(
    parts.map(([window, offset, size]) => {
      const bits = typeof windows[window] === 'number' ? 32 : 128;
      return `${textAt(window, offset)}/${bits - size}`;
    }),
  );

/** The fewest prefixes of a part of a window. */
function fewest(list: readonly boolean[]): number {
  if (list.every((one) => one)) return 1;
  if (!list.some((one) => one)) return 0;
  const half = list.length / 2;
  return fewest(list.slice(0, half)) + fewest(list.slice(half));
}

function assertEqual(set: AddressSet, model: Model): void {
  for (const [window, list] of model.members.entries())
    for (const [offset, isMember] of list.entries())
      if (set.has(at(windows[window]!, offset)) !== isMember)
        assert.fail(`${textAt(window, offset)} is ${isMember ? 'not ' : ''}a member`);
  const prefixes = set.prefixes();
  assert.equal(
    prefixes.length,
    model.members.reduce((sum, list) => sum + fewest(list), 0),
  );
  const again = AddressSet.of(prefixes);
  assert.ok(again.equals(set) && set.equals(again));
  assert.deepEqual(again.prefixes(), prefixes);
  assert.equal(set.isEmpty, prefixes.length === 0);
}

const OPERATIONS = 'of, union and minus agree with lists of all addresses';
test(OPERATIONS, async () => {
  await checkProperty(
    { file: FILE, name: OPERATIONS },
    200,
    fc.asyncProperty(someParts, someParts, async (a, b) => {
      const [setA, setB, modelA, modelB] = [setOf(a), setOf(b), Model.of(a), Model.of(b)];
      const inA = (window: number, offset: number) => modelA.members[window]![offset]!;
      const inB = (window: number, offset: number) => modelB.members[window]![offset]!;
      assertEqual(setA, modelA);
      const union = Model.from((window, offset) => inA(window, offset) || inB(window, offset));
      assertEqual(AddressSet.union([setA, setB]), union);
      assertEqual(AddressSet.union([setA, AddressSet.none, setB, setA]), union);
      assertEqual(
        setA.minus(setB),
        Model.from((window, offset) => inA(window, offset) && !inB(window, offset)),
      );
      const addresses = b.map(([window, offset]) => at(windows[window]!, offset));
      const single = Model.of(b.map(([window, offset]) => [window, offset, 0]));
      assertEqual(AddressSet.ofAddresses(addresses), single);
      assertEqual(AddressSet.ofAddresses([...addresses, ...addresses]), single);
    }),
  );
});

const EQUALITY = 'sets are equal exactly if their members are';
test(EQUALITY, async () => {
  await checkProperty(
    { file: FILE, name: EQUALITY },
    200,
    fc.asyncProperty(someParts, fc.nat(3), async (parts, left) => {
      const fewer = parts.slice(left);
      const isSame = JSON.stringify(Model.of(parts)) === JSON.stringify(Model.of(fewer));
      assert.equal(setOf(parts).equals(setOf(fewer)), isSame);
      assert.ok(setOf(parts).equals(setOf(parts.toReversed())));
    }),
  );
});
