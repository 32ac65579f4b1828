import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { peersInWords } from '#netctl/peers-in-words.ts';

const pods = ['10.1.1.2', '10.1.1.3', '10.1.1.9', 'fd00::2'].map((address, at) => ({
  namespace: 'shop',
  name: `p${at}`,
  address,
  hostAddress: undefined,
}));

describe('the peers of a rule in words', () => {
  for (const [peers, words] of [
    [['10.1.1.2/31'], 'pods shop/p0, shop/p1'],
    [['10.1.1.9/32', '192.0.2.0/24'], 'pod shop/p2 and 192.0.2.0/24'],
    [['fd00::2/128'], 'pod shop/p3'],
    [['10.0.0.0/8'], '10.0.0.0/8'],
    [['0.0.0.0/0'], 'every address'],
    [
      ['0.0.0.0/1', '128.0.0.0/2', '192.0.0.0/3', '224.0.0.0/4', '240.0.0.0/5'],
      '0.0.0.0/0 except 248.0.0.0/5',
    ],
    [['fd00:1::/32', 'fd00:2::/31', 'fd00:4::/30', 'fd00:8::/29'], 'fd00::/28 except fd00::/32'],
    [[], 'no address'],
    [
      ['1.0.0.0/8', '2.0.0.0/8', '3.0.0.0/8', '4.0.0.0/8'],
      '1.0.0.0/8, 2.0.0.0/8, 3.0.0.0/8 and 1 more',
    ],
  ] as const)
    it(`are "${words}" for ${peers.join(', ') || 'none'}`, () => {
      assert.equal(peersInWords(peers, pods), words);
    });

  it('are prefixes where the pods are not known', () => {
    assert.equal(peersInWords(['10.1.1.2/31'], undefined), '10.1.1.2/31');
  });

  it('are found in time that does not grow with the square of the pods', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => ({
      ...pods[0]!,
      name: `p${at}`,
      address: `10.1.${at >> 8}.${at & 255}`,
    }));
    const before = process.cpuUsage();
    const words = peersInWords(
      many.map(({ address }) => `${address}/32`),
      many,
    );
    assert.equal(words, 'pods shop/p0, shop/p1, shop/p2 and 4997 more');
    // The square takes 30 s.
    assert.ok(process.cpuUsage(before).user < 2e6);
  });
});
