import assert from 'node:assert/strict';
import { isIPv4 } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  bytesOfAddress,
  fromAddress,
  fromMac,
  fromPrefix,
  fromUnion,
  InvalidAddressError,
  textOfBytes,
  toAddress,
  toMac,
  toPrefix,
} from '#vpp/binapi/addresses.ts';

test('IPv6 text is canonical', () => {
  const written: Record<string, string> = {
    '2001:DB8:0:0:0:0:0:1': '2001:db8::1',
    '::': '::',
    '::1': '::1',
    '1::': '1::',
    '0:0:1:0:0:0:0:0': '0:0:1::',
    // a single zero group is kept; of equal runs the first one is compressed
    '2001:db8:0:1:1:1:1:1': '2001:db8:0:1:1:1:1:1',
    '2001:0:0:1:0:0:1:1': '2001::1:0:0:1:1',
    '::ffff:10.1.2.3': '::ffff:10.1.2.3',
    '::ffff:a01:203': '::ffff:10.1.2.3',
    '64:ff9b::192.0.2.33': '64:ff9b::c000:221',
    'fe80:0000:0000:0000:0200:f8ff:fe21:67cf': 'fe80::200:f8ff:fe21:67cf',
  };
  for (const [text, canonical] of Object.entries(written))
    assert.equal(fromAddress(toAddress(text)), canonical, text);
});

test('bytes are converted to text and back, in both families', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
    // many zeros, to test the compression of runs
    fc
      .array(fc.constantFrom(0, 0, 0, 1, 255), { minLength: 16, maxLength: 16 })
      .map((list) => Uint8Array.from(list)),
  );
  fc.assert(
    fc.property(bytes, (value) => {
      assert.deepEqual(bytesOfAddress(textOfBytes(value)), value);
      assert.equal(textOfBytes(bytesOfAddress(textOfBytes(value))), textOfBytes(value));
    }),
  );
});

test('IPv4 addresses are valid exactly when Node.js accepts them', () => {
  const part = fc.oneof(
    fc.integer({ min: 0, max: 300 }).map(String),
    fc.constantFrom('', '0', '00', '01', '255', '256', '1e1', '+1', ' 1', '\u0661'),
  );
  const text = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('.'));
  fc.assert(
    fc.property(text, (written) => {
      if (isIPv4(written)) {
        const bytes = Uint8Array.from(written.split('.'), Number);
        assert.deepEqual(bytesOfAddress(written), bytes);
      } else assert.throws(() => bytesOfAddress(written), InvalidAddressError);
    }),
    { examples: [['1.2.3'], ['1.2.3.4.'], ['.1.2.3'], ['1.2.3.4.5'], ['0.0.0.0'], ['1.2.3.04']] },
  );
});

test('an address has the form that VPP decodes: family and 16 bytes', () => {
  const address = toAddress('10.1.2.3');
  assert.deepEqual(address, { af: 0, un: Uint8Array.of(10, 1, 2, 3, ...Array(12).fill(0)) });
  assert.equal(fromUnion(0, address.un), '10.1.2.3');
  assert.equal(fromUnion(1, toAddress('2001:db8::1').un), '2001:db8::1');
});

test('prefixes keep their host bits', () => {
  for (const text of ['10.1.1.7/24', '0.0.0.0/0', '2001:db8::5/64', '::/0', '::1/128'])
    assert.equal(fromPrefix(toPrefix(text)), text);
});

test('MAC addresses', () => {
  assert.equal(fromMac(toMac('02:FE:0a:1:2:3')), '02:fe:0a:01:02:03');
  assert.deepEqual(toMac('02-fe-0a-01-02-03'), Uint8Array.of(2, 0xfe, 10, 1, 2, 3));
});

test('an invalid address is rejected, and the error contains it', () => {
  const wrong = ['', '10.1.2', '10.1.2.256', '1::2::3', 'fe80::1%eth0', '10.1.2.3/24', 'localhost'];
  for (const text of wrong)
    assert.throws(
      () => toAddress(text),
      (error) =>
        error instanceof InvalidAddressError && error.message.includes(JSON.stringify(text)),
    );
  for (const text of [
    '10.1.1.0',
    '10.1.1.0/',
    '10.1.1.0/33',
    '::/129',
    '10.1.1.0/2/4',
    '10.1.1.0/-1',
    '::/ 1',
  ])
    assert.throws(() => toPrefix(text), InvalidAddressError, text);
  for (const text of [
    '',
    '02:fe:0a:01:02',
    '02:fe:0a:01:02:03:04',
    '02:fe:0a:01:02:0g',
    '02fe0a010203',
  ])
    assert.throws(() => toMac(text), InvalidAddressError, text);
  assert.throws(() => textOfBytes(new Uint8Array(5)), InvalidAddressError);
});
