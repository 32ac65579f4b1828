import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseQuantity } from '#plugins/ipv4net/quantity.ts';

/** From the tests and the documentation of Kubernetes. */
const known: Readonly<Record<string, bigint | undefined>> = {
  '0': 0n,
  '1': 1n,
  '10M': 10_000_000n,
  '1Gi': 1_073_741_824n,
  '500k': 500_000n,
  '1e6': 1_000_000n,
  '1E6': 1_000_000n,
  '1E': 10n ** 18n,
  '1Ei': 1024n ** 6n,
  '1.5G': 1_500_000_000n,
  '.5Ki': 512n,
  '5.': 5n,
  '+7k': 7_000n,
  '-7k': -7_000n,
  '1500m': 2n,
  '-1500m': -1n,
  '1u': 1n,
  '0n': 0n,
  '1e-3': 1n,
  '12e+3': 12_000n,
  '': undefined,
  '.': undefined,
  M: undefined,
  '1 M': undefined,
  ' 1': undefined,
  '1m5': undefined,
  '1K': undefined,
  '1ki': undefined,
  '0.1mi': undefined,
  '1i': undefined,
  '-3.01e-': undefined,
  '1.1.M': undefined,
  '1+1.0M': undefined,
  '1e1.5': undefined,
  '10Mbit': undefined,
  '0x10': undefined,
  NaN: undefined,
};

test('quantities of Kubernetes', () => {
  for (const [text, expected] of Object.entries(known))
    assert.equal(parseQuantity(text), expected, JSON.stringify(text));
});

const suffixes = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'e3', 'E12'] as const;
const powers = [1, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18, 2 ** 10, 2 ** 20, 2 ** 30, 1e3, 1e12];

test('a number with digits after the point is rounded up', () => {
  const digits = fc.tuple(fc.nat(999_999), fc.nat(999), fc.nat(suffixes.length - 1));
  fc.assert(
    fc.property(digits, ([whole, thousandths, at]) => {
      const fraction = String(thousandths).padStart(3, '0');
      const exact = (BigInt(whole) * 1000n + BigInt(thousandths)) * BigInt(powers[at]!);
      const expected = (exact + 999n) / 1000n;
      assert.equal(parseQuantity(`${whole}.${fraction}${suffixes[at]}`), expected);
    }),
  );
});

test('no text throws, or takes long', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseQuantity(text)));
  const huge = parseQuantity('1e999999999');
  assert.ok(huge !== undefined && huge > 10n ** 100n);
  assert.equal(parseQuantity('1e-999999999'), 1n);
  assert.equal(parseQuantity('9'.repeat(200_000)), undefined);
});
