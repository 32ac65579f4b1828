import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AddressPool } from '#plugins/ipam/address-pool.ts';
import { FreeIndex } from '#plugins/ipam/free-index.ts';
import { parsePrefix } from '#plugins/ipam/prefix.ts';

const pool = (text: string) => new AddressPool(parsePrefix(text, 'test'));

function take(from: AddressPool): string | undefined {
  const address = from.next();
  if (address === undefined) return undefined;
  from.use(address);
  from.continueAfter(address);
  return address;
}

describe('index of what is in use', () => {
  it('agrees with a plain set under any sequence of operations', () => {
    const operation = fc.record({
      kind: fc.constantFrom('add', 'delete', 'next'),
      number: fc.nat(1100),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1100 }),
        fc.nat(1100),
        fc.array(operation, { maxLength: 200 }),
        (size, filled, operations) => {
          const index = new FreeIndex(size);
          const set = new Set<number>();
          for (let number = 0; number < Math.min(filled, size); number++) {
            index.add(number);
            set.add(number);
          }
          for (const { kind, number } of operations) {
            if (kind === 'next') {
              let expected = number;
              while (set.has(expected)) expected++;
              assert.equal(index.next(number), expected < size ? expected : undefined);
            } else if (number < size) {
              index[kind === 'add' ? 'add' : 'delete'](number);
              set[kind === 'add' ? 'add' : 'delete'](number);
              assert.equal(index.has(number), set.has(number));
            }
            assert.equal(index.used, set.size);
          }
        },
      ),
    );
  });

  it('does not walk over what is in use', () => {
    const size = 2 ** 20;
    const index = new FreeIndex(size);
    for (let number = 0; number < size - 1; number++) index.add(number);
    const start = process.cpuUsage();
    for (let round = 0; round < 10_000; round++) assert.equal(index.next(0), size - 1);
    // walking would take 10^10 steps: minutes
    assert.ok(process.cpuUsage(start).user < 5e6);
  });
});

describe('pool of addresses', () => {
  it('hands out all but network, gateway, NAT loopback and broadcast, then nothing', () => {
    const addresses = pool('10.1.1.0/28');
    const taken = [];
    for (let address = take(addresses); address; address = take(addresses)) taken.push(address);
    assert.deepEqual(
      taken,
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((last) => `10.1.1.${last}`),
    );
  });

  it('goes in turn: what became free comes back last', () => {
    const addresses = pool('10.1.1.0/28');
    const first = take(addresses)!;
    assert.equal(first, '10.1.1.2');
    addresses.release(first);
    for (let last = 3; last <= 13; last++) assert.equal(take(addresses), `10.1.1.${last}`);
    assert.equal(take(addresses), first);
    assert.equal(take(addresses), undefined);
  });

  it('continues after the last address, or from the start if that is outside of the pool', () => {
    const addresses = pool('10.1.1.0/28');
    addresses.continueAfter('10.1.1.6');
    assert.equal(take(addresses), '10.1.1.7');
    addresses.continueAfter('10.9.9.9');
    assert.equal(take(addresses), '10.1.1.8');
    addresses.continueAfter('10.1.1.13');
    assert.equal(take(addresses), '10.1.1.2');
  });

  it('never frees what it must not hand out', () => {
    const addresses = pool('10.1.1.0/29');
    for (let last = 0; last < 8; last++) addresses.release(`10.1.1.${last}`);
    assert.deepEqual(
      [take(addresses), take(addresses), take(addresses), take(addresses), take(addresses)],
      ['10.1.1.2', '10.1.1.3', '10.1.1.4', '10.1.1.5', undefined],
    );
  });

  it('takes networks of any size', () => {
    const wide = pool('2001:db8::/48');
    assert.equal(take(wide), '2001:db8::2');
    wide.use('2001:db8::ffff:ffff:ffff:ffff');
    assert.equal(take(wide), '2001:db8::3');
    assert.ok(wide.contains('2001:db8::ffff:ffff:ffff:ffff'));
    assert.ok(!wide.contains('2001:db9::1'));
  });
});
