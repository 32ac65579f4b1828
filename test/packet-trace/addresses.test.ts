import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { network, sameAddress } from '#packet-trace/addresses.ts';

describe('networks', () => {
  it('contain what shares their first bits, in both families', () => {
    const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, fc.nat(128), fc.nat(127), (parts, length, flipped) => {
        const text = (bits: bigint) =>
          bits
            .toString(16)
            .padStart(32, '0')
            .replace(/(.{4})(?=.)/g, '$1:');
        const bits = parts.reduce((sum, part) => (sum << 16n) + BigInt(part), 0n);
        const other = bits ^ (1n << BigInt(127 - flipped));
        assert.ok(network(`${text(bits)}/${length}`).contains(text(bits)));
        assert.equal(network(`${text(bits)}/${length}`).contains(text(other)), flipped >= length);
      }),
    );
    assert.ok(network('10.1.2.3/24').contains('10.1.2.255'));
    assert.ok(!network('10.1.2.0/24').contains('10.1.3.0'));
    assert.ok(!network('::/0').contains('10.0.0.1'));
  });

  it('know an address in each of its spellings', () => {
    assert.ok(sameAddress('2001:db8::1', '2001:0db8:0:0:0:0:0:1'));
    assert.ok(sameAddress('::', '0:0:0:0:0:0:0:0'));
    assert.ok(sameAddress('10.0.0.1/24', '10.0.0.1'));
    assert.ok(!sameAddress('10.0.0.1', '::a00:1'));
    assert.ok(sameAddress('::ffff:10.0.0.1', '::ffff:a00:1'));
    assert.ok(sameAddress('2001:db8::1.2.3.4', '2001:db8:0:0:0:0:102:304'));
    assert.ok(sameAddress('fe80::1%eth0', 'fe80::1'));
  });
});
