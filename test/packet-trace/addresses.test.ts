import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { addressNumber, contains, network, sameAddress } from '#packet-trace/addresses.ts';

function isIn(cidr: string, address: string): boolean {
  const [found, number] = [network(cidr), addressNumber(address)];
  return found !== undefined && number !== undefined && contains(found, number);
}

describe('networks', () => {
  it('contain the addresses with the same first bits, in both families', () => {
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
        assert.ok(isIn(`${text(bits)}/${length}`, text(bits)));
        assert.equal(isIn(`${text(bits)}/${length}`, text(other)), flipped >= length);
      }),
    );
    assert.ok(isIn('10.1.2.3/24', '10.1.2.255'));
    assert.ok(!isIn('10.1.2.0/24', '10.1.3.0'));
    assert.ok(!isIn('::/0', '10.0.0.1'));
  });

  it('compare addresses in all spellings', () => {
    assert.ok(sameAddress('2001:db8::1', '2001:0db8:0:0:0:0:0:1'));
    assert.ok(sameAddress('::', '0:0:0:0:0:0:0:0'));
    assert.ok(sameAddress('10.0.0.1/24', '10.0.0.1'));
    assert.ok(!sameAddress('10.0.0.1', '::a00:1'));
    assert.ok(sameAddress('::ffff:10.0.0.1', '::ffff:a00:1'));
    assert.ok(sameAddress('2001:db8::1.2.3.4', '2001:db8:0:0:0:0:102:304'));
    assert.ok(sameAddress('fe80::1%eth0', 'fe80::1'));
  });

  it('contain no text that is not an address, and an invalid network contains nothing', () => {
    for (const invalid of ['10.1.1.300', '10.1.1', '10.1.1.1.1', '1::2::3', 'alloc:net/if', '']) {
      assert.ok(!isIn('10.0.0.0/8', invalid), invalid);
      assert.ok(!isIn('::/0', invalid), invalid);
      assert.ok(!isIn(`${invalid}/8`, '10.1.1.1'), invalid);
      assert.ok(!sameAddress(invalid, invalid), invalid);
    }
    assert.ok(!sameAddress('10.1.1.300', '10.1.2.44'));
    assert.ok(!isIn('10.1.1.0/33', '10.1.1.0'));
  });
});
