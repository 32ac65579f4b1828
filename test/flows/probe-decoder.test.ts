/** Messages of flowprobe, also those of others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ProbeDecoder } from '#flows/probe/probe-decoder.ts';
import type { ProbedFlow } from '#flows/probe/probed-flow.ts';
import {
  ACK,
  data,
  message,
  type Sent,
  SYN,
  TEMPLATE_4,
  TEMPLATE_6,
  template,
} from './probe-messages.ts';

const four: Sent = { source: '10.1.1.2', destination: '10.1.2.3', flags: SYN };

function decoded(...messages: readonly Buffer[]) {
  const decoder = new ProbeDecoder();
  const flows: ProbedFlow[] = [];
  for (const one of messages) decoder.decode(one, (flow) => flows.push(flow));
  return { flows, lost: decoder.lost, refused: decoder.refused };
}

describe('messages of flowprobe', () => {
  it('have records of both families and directions', () => {
    const six: Sent = {
      source: 'fd00::2',
      destination: 'fd00::3',
      protocol: 17,
      rx: 2,
      tx: 1,
      isOutput: true,
      begun: 1_700_000_000_123.5,
      last: 1_700_000_001_000,
      packets: 3,
      bytes: 300,
    };
    const { flows, lost, refused } = decoded(
      template(0, TEMPLATE_4),
      template(0, TEMPLATE_6),
      data(0, four, { ...four, flags: SYN | ACK, destinationPort: 443 }),
      data(1, six),
    );
    assert.deepEqual([flows.length, lost, refused], [3, 0, 0]);
    assert.deepEqual(
      [flows[0]?.source, flows[0]?.destination, flows[0]?.isSyn, flows[0]?.swIfIndex],
      [{ address: '10.1.1.2', port: 40_000 }, { address: '10.1.2.3', port: 80 }, true, 1],
    );
    assert.deepEqual(flows[2], {
      protocol: 'UDP',
      swIfIndex: 1,
      isFromPod: false,
      source: { address: 'fd00::2', port: 40_000 },
      destination: { address: 'fd00::3', port: 80 },
      packets: 3,
      bytes: 300,
      begun: 1_700_000_000_123.5,
      last: 1_700_000_001_000,
      isSyn: false,
      isFin: false,
      isRst: false,
    });
  });

  it('of other templates and protocols are left out, and sets without a number are counted', () => {
    const other = message(0, 2, Buffer.from([1, 2, 0, 1, 0, 8, 0, 4]));
    const { flows, lost } = decoded(
      template(0, TEMPLATE_4),
      other,
      message(0, 258, Buffer.alloc(8)),
      message(1, 0, Buffer.alloc(66)),
      data(2, { ...four, protocol: 1 }),
      data(3, four),
    );
    assert.deepEqual([flows.length, lost], [1, 0]);
  });

  it('that are missing are counted, but not those that were overtaken, nor after a restart of VPP', () => {
    const of = (...numbers: readonly number[]) =>
      decoded(template(0, TEMPLATE_4), ...numbers.map((number) => data(number, four))).lost;
    assert.equal(of(0, 1, 2), 0);
    assert.equal(of(0, 3), 2);
    assert.equal(of(0, 2, 1, 3), 0);
    assert.equal(of(5_000, 5_001, 0, 1), 0);
    assert.equal(of(0xffff_ffff, 0), 0);
    assert.equal(decoded(data(0, four), template(1, TEMPLATE_4), data(1, four)).lost, 1);
  });

  it('of any content do no harm', () => {
    const valid = fc.constantFrom(template(0, TEMPLATE_4), template(0, TEMPLATE_6), data(0, four));
    const damaged = fc
      .tuple(valid, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }), fc.nat())
      .map(([bytes, changes, cut]) => {
        const copy = Buffer.from(bytes);
        for (const [at, value] of changes) copy[at % copy.length] = value;
        return copy.subarray(0, copy.length - (cut % 4 === 0 ? cut % copy.length : 0));
      });
    const bytes = fc.uint8Array({ maxLength: 200 }).map((one) => Buffer.from(one));
    fc.assert(
      fc.property(fc.array(fc.oneof(damaged, bytes), { maxLength: 20 }), (messages) => {
        const { flows, lost, refused } = decoded(...messages);
        assert.ok(flows.length <= messages.length * 4 && lost >= 0 && refused >= 0);
        for (const { begun, last } of flows) assert.ok(begun >= 0 && last >= 0);
      }),
    );
  });
});
