import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PortSet, type ProtocolPorts, policyProtocols } from '#plugins/policy/port-set.ts';
import { checkProperty } from '../../support/random-cases.ts';

const FILE = 'test/plugins/policy/port-set.test.ts';

const tcp = (first: number, last = first): ProtocolPorts => ({ protocol: 'TCP', first, last });
const udp = (first: number, last = first): ProtocolPorts => ({ protocol: 'UDP', first, last });

test('ranges are merged where they touch, for each protocol', () => {
  const set = PortSet.of([udp(53), tcp(8081, 8090), tcp(80), tcp(8080), tcp(85, 8000)]);
  assert.equal(set.text, 'TCP 80, TCP 85-8000, TCP 8080-8090, UDP 53');
  assert.deepEqual(set.ranges, [tcp(80), tcp(85, 8000), tcp(8080, 8090), udp(53)]);
});

test('what is outside of 1 to 65535 is cut, and ranges that end before they begin are left out', () => {
  assert.equal(PortSet.of([tcp(0, 3), tcp(65_000, 70_000)]).text, 'TCP 1-3, TCP 65000-65535');
  assert.equal(PortSet.of([tcp(0), tcp(65_536), tcp(90, 80), tcp(-5, -1)]), PortSet.none);
});

test('every port of all protocols is less than any: any has protocols without ports', () => {
  const all = PortSet.of(policyProtocols.map((protocol) => ({ protocol, first: 1, last: 65_535 })));
  assert.equal(all.isAny, false);
  assert.equal(all.text, 'TCP 1-65535, UDP 1-65535, SCTP 1-65535');
  assert.equal(PortSet.any.text, 'any');
  assert.equal(PortSet.any.has('SCTP', 1), true);
  assert.deepEqual(PortSet.any.ranges, []);
  assert.equal(PortSet.union([all, PortSet.any]), PortSet.any);
  assert.equal(all.intersect(PortSet.any), all);
  assert.equal(PortSet.any.intersect(all), all);
});

test('none is empty', () => {
  assert.ok(PortSet.none.isEmpty);
  assert.equal(PortSet.none.text, 'none');
  assert.equal(PortSet.union([]), PortSet.none);
  assert.equal(PortSet.any.isEmpty, false);
  assert.ok(PortSet.of([tcp(80)]).intersect(PortSet.of([udp(80)])).isEmpty);
});

const LAST = 30;
const someRanges: fc.Arbitrary<ProtocolPorts[]> = fc.array(
  fc.record({
    protocol: fc.constantFrom(...policyProtocols),
    first: fc.integer({ min: 1, max: LAST }),
    last: fc.integer({ min: 1, max: LAST }),
  }),
  { maxLength: 8 },
);

function assertEqual(set: PortSet, isMember: (protocol: string, port: number) => boolean): void {
  for (const protocol of policyProtocols)
    for (let port = 1; port <= LAST + 1; port++)
      assert.equal(set.has(protocol, port), isMember(protocol, port), `${protocol} ${port}`);
  let before: ProtocolPorts | undefined;
  for (const range of set.ranges) {
    assert.ok(range.first <= range.last);
    if (before?.protocol === range.protocol)
      assert.ok(before.last + 1 < range.first, 'ranges are apart');
    before = range;
  }
  assert.equal(PortSet.of(set.ranges).text, set.text);
}

const OPERATIONS = 'of, union and intersect agree with lists of all ports';
test(OPERATIONS, async () => {
  await checkProperty(
    { file: FILE, name: OPERATIONS },
    300,
    fc.asyncProperty(someRanges, someRanges, async (a, b) => {
      const [setA, setB] = [PortSet.of(a), PortSet.of(b)];
      const isIn = (ranges: ProtocolPorts[]) => (protocol: string, port: number) =>
        ranges.some((one) => one.protocol === protocol && one.first <= port && port <= one.last);
      const [inA, inB] = [isIn(a), isIn(b)];
      assertEqual(setA, inA);
      assertEqual(PortSet.union([setA, setB]), (...one) => inA(...one) || inB(...one));
      assertEqual(setA.intersect(setB), (...one) => inA(...one) && inB(...one));
      assert.equal(setA.intersect(setB).text, setB.intersect(setA).text);
      assert.equal(PortSet.union([setA, setB]).text, PortSet.of([...b, ...a]).text);
    }),
  );
});
