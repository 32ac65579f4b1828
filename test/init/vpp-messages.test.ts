import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { VppMessages } from '#init/vpp-messages.ts';

function messages() {
  const clock = new ManualClock();
  const passed: Buffer[] = [];
  const reports: object[] = [];
  const stream = new VppMessages({
    write: (bytes) => passed.push(bytes),
    clock,
    log: { warn: (fields: object) => reports.push(fields) } as never,
  });
  return { stream, clock, reports, text: () => Buffer.concat(passed).toString() };
}

function lines(count: number): string {
  return 'unexpected NAT protocol value `47\n'.repeat(count);
}

describe('messages of VPP', () => {
  it('are passed on as they are, also in pieces', () => {
    const { stream, text } = messages();
    const all = Buffer.from('vpp[7]: größer\n\nlast\n');
    for (const byte of all) stream.write(Buffer.from([byte]));
    assert.equal(text(), all.toString());
    stream.write('unknown input, without an end');
    assert.equal(text(), `${all}unknown input, without an end`);
  });

  it('are dropped above a rate, and counted', async () => {
    const { stream, clock, reports, text } = messages();
    stream.write(lines(30_000));
    assert.equal(text(), lines(1_000));
    assert.deepEqual(reports, []);
    await clock.advance(10_000);
    assert.deepEqual(reports, [{ lines: 29_000, perSecond: 10 }]);
    stream.write(lines(30_000));
    assert.equal(text(), lines(1_100));
    await clock.advance(3_600_000);
    assert.deepEqual(reports.slice(1), [{ lines: 29_900, perSecond: 10 }]);
    stream.write('a stack\n'.repeat(50));
    assert.ok(text().endsWith('a stack\n'.repeat(50)));
    await clock.advance(3_600_000);
    assert.equal(reports.length, 2);
  });
});
