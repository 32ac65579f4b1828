import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { StatsBusyError, StatsSegment, StatsUnavailableError } from '#vpp/stats/segment.ts';

const BASE = 0x7f00_0000_0000n;

/** A statistics segment in a file, with VPP's memory layout. */
class FakeSegment {
  readonly fd = openSync(join(temporaryFolder('stats'), 'segment'), 'w+');
  #end = 64;

  constructor() {
    writeSync(this.fd, Buffer.alloc(1 << 16), 0, 1 << 16, 0);
    this.header({ version: 2n, epoch: 1n, inProgress: 0n, directory: 0n });
  }

  header(fields: { version?: bigint; epoch?: bigint; inProgress?: bigint; directory?: bigint }) {
    const offsets = { version: 0, epoch: 16, inProgress: 24, directory: 32 } as const;
    this.word(8, BASE);
    for (const [name, value] of Object.entries(fields))
      this.word(offsets[name as keyof typeof offsets], value);
  }

  word(at: number, value: bigint) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    writeSync(this.fd, bytes, 0, 8, at);
  }

  /** @returns the pointer as VPP stores it */
  vector(items: Buffer, count: number): bigint {
    const at = this.#end + 8;
    const length = Buffer.alloc(4);
    length.writeUInt32LE(count);
    writeSync(this.fd, length, 0, 4, at - 8);
    if (items.length > 0) writeSync(this.fd, items, 0, items.length, at);
    this.#end = at + Math.ceil(items.length / 8) * 8;
    return BASE + BigInt(at);
  }

  words(...values: bigint[]): bigint {
    return this.counters(1, values);
  }

  /** @param size words of one item */
  counters(size: number, values: readonly bigint[]): bigint {
    const items = Buffer.alloc(values.length * 8);
    values.forEach((value, index) => {
      items.writeBigUInt64LE(value, index * 8);
    });
    return this.vector(items, values.length / size);
  }

  text(value: string): bigint {
    return this.vector(Buffer.from(`${value}\0`), value.length + 1);
  }

  directory(...entries: [name: string, type: number, word: bigint][]) {
    const items = Buffer.alloc(entries.length * 144);
    entries.forEach(([name, type, word], index) => {
      items.writeUInt32LE(type, index * 144);
      items.writeBigUInt64LE(word, index * 144 + 8);
      items.write(name, index * 144 + 16);
    });
    this.header({ directory: this.vector(items, entries.length) });
  }
}

function make() {
  const fake = new FakeSegment();
  fake.directory(
    ['/if/names', 4, fake.words(fake.text('local0'), 0n, fake.text('tap0'))],
    ['/if/drops', 2, fake.words(fake.words(1n, 2n, 3n), fake.words(10n, 20n))],
    ['/if/rx', 3, fake.words(fake.counters(2, [1n, 100n, 2n, 200n]), fake.counters(2, [3n, 300n]))],
    ['/sys/gauge', 9, 2n],
    ['/err/a/b', 6, (2n << 32n) | 1n],
    ['/err/a/c', 6, 1n],
    ['/err/a/gone', 6, 77n],
  );
  const clock = new ManualClock();
  return { fake, clock, segment: new StatsSegment(fake.fd, clock) };
}

describe('statistics segment', () => {
  it('sums counters over threads, whose vectors may differ in length', async () => {
    const { segment } = make();
    const seen = await segment.read((snapshot) => ({
      names: snapshot.names('/if/names'),
      drops: snapshot.simple('/if/drops'),
      rx: snapshot.combined('/if/rx'),
      gauge: snapshot.scalar('/sys/gauge'),
      perThread: snapshot.perThread('/if/drops', 2),
      errors: [...snapshot.symlinks('/err/')],
      none: [snapshot.simple('/none'), snapshot.names('/if/rx'), snapshot.scalar('/if/rx')],
    }));
    assert.deepEqual(seen, {
      names: ['local0', '', 'tap0'],
      drops: [11n, 22n, 3n],
      rx: [
        { packets: 4n, bytes: 400n },
        { packets: 2n, bytes: 200n },
      ],
      gauge: 2,
      perThread: [3n, 0n],
      errors: [
        ['a/b', 3n],
        ['a/c', 11n],
        ['a/gone', 0n],
      ],
      none: [undefined, undefined, undefined],
    });
  });

  it('retries with the new directory when the layout changed during a read', async () => {
    const { fake, segment } = make();
    await segment.read((snapshot) => snapshot.simple('/if/drops'));
    let reads = 0;
    const value = await segment.read((snapshot) => {
      const before = snapshot.simple('/if/drops');
      if (reads++ === 0) {
        fake.directory(['/if/drops', 2, fake.words(fake.words(99n))]);
        fake.header({ epoch: 2n });
      }
      return before;
    });
    assert.deepEqual(value, [99n]);
    assert.equal(reads, 2);
  });

  it('returns no data and no error from a read during a layout change', async () => {
    const { fake, segment } = make();
    let reads = 0;
    const value = await segment.read((snapshot) => {
      if (reads++ === 0) {
        fake.header({ epoch: 5n });
        throw new Error('invalid pointer');
      }
      return snapshot.simple('/if/drops');
    });
    assert.deepEqual(value, [11n, 22n, 3n]);
    await assert.rejects(
      segment.read(() => {
        throw new Error('real');
      }),
      /^Error: real$/,
    );
  });

  it('fails when the layout keeps changing', async () => {
    const { fake, clock, segment } = make();
    fake.header({ inProgress: 1n });
    const failed = assert.rejects(
      segment.read(() => 1),
      StatsBusyError,
    );
    for (let step = 0; step < 200; step++) await clock.advance(10);
    await failed;
  });

  it('waits for a VPP that gets no CPU in the middle of a change', async () => {
    const { fake, clock, segment } = make();
    fake.header({ inProgress: 1n });
    const reading = segment.read((snapshot) => snapshot.simple('/if/drops'));
    for (let step = 0; step < 50; step++) await clock.advance(10);
    fake.header({ inProgress: 0n });
    for (let step = 0; step < 20; step++) await clock.advance(10);
    assert.deepEqual(await reading, [11n, 22n, 3n]);
  });

  it('rejects an unknown version, invalid pointers and an inaccessible process', async () => {
    const { fake, segment } = make();
    fake.header({ version: 3n });
    await assert.rejects(
      segment.read(() => 1),
      /version 3, only version 2 is supported/,
    );
    fake.header({ version: 2n, directory: BASE + 0xffff_ffffn });
    await assert.rejects(
      segment.read(() => 1),
      /exceed the segment/,
    );
    const endless = fake.words(1n);
    fake.word(Number(endless - BASE) - 8, 0xffff_ffffn);
    fake.header({ directory: endless });
    await assert.rejects(
      segment.read(() => 1),
      /618475290480 bytes at offset \d+ exceed the segment/,
    );
    closeSync(fake.fd);
    assert.throws(() => StatsSegment.open(1, new ManualClock(), '/nowhere'), StatsUnavailableError);
    assert.throws(() => StatsSegment.open(process.pid, new ManualClock()), StatsUnavailableError);
  });
});
