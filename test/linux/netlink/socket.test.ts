import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LinuxError } from '#linux/api.ts';
import { numberAttribute, textAttribute } from '#linux/netlink/attributes.ts';
import type { Message } from '#linux/netlink/messages.ts';
import { Refusal } from '#linux/netlink/refusal.ts';
import { NetlinkSocket } from '#linux/netlink/socket.ts';
import { DONE, datagram, ERROR, int32 } from './kernel-messages.ts';

const TYPE = 24;
const request = { type: TYPE, flags: 1, body: new Uint8Array(12) };
const number = ({ body }: Message): number => body.readUInt32LE(0);

/** A kernel that answers the request of each sequence number with these datagrams. */
function socketWith(answer: (sequence: number) => readonly Buffer[]): NetlinkSocket {
  const queue: Buffer[] = [];
  return new NetlinkSocket({
    send: (bytes) => queue.push(...answer(bytes.readUInt32LE(8))),
    receive(into) {
      const next = queue.shift();
      if (next === undefined) throw new Refusal(11);
      next.copy(into);
      return next.length;
    },
  });
}

const entry = (value: number, sequence: number, flags = 2) =>
  datagram(TYPE, int32(value), { sequence, flags });
const done = (sequence: number, errno = 0) => datagram(DONE, int32(-errno), { sequence, flags: 2 });

describe('a netlink socket', () => {
  test('reports the errno and the text of the kernel', () => {
    const header = Buffer.alloc(16);
    header.writeUInt32LE(28, 0);
    const text = textAttribute(1, 'Nexthop has invalid gateway');
    const offset = numberAttribute(2, 44);
    const capped = Buffer.concat([int32(-101), header, offset, text]);
    const whole = Buffer.concat([int32(-101), header, Buffer.alloc(12), text]);
    for (const [body, flags] of [
      [capped, 0x300],
      [whole, 0x200],
    ] as const) {
      const socket = socketWith((sequence) => [datagram(ERROR, body, { sequence, flags })]);
      assert.throws(() => socket.change(request), {
        message: 'Nexthop has invalid gateway (ENETUNREACH)',
        errno: 'ENETUNREACH',
      });
    }
    const silent = socketWith((sequence) => [
      datagram(ERROR, Buffer.concat([int32(-17), header]), { sequence }),
    ]);
    assert.throws(() => silent.change(request), { message: 'file already exists (EEXIST)' });
  });

  test('names numbers as Linux does, and keeps unknown ones', () => {
    assert.equal(new Refusal(95).errno, 'EOPNOTSUPP');
    assert.equal(new Refusal(99).errno, 'EADDRNOTAVAIL');
    assert.equal(new Refusal(113).errno, 'EHOSTUNREACH');
    assert.equal(new Refusal(524).errno, undefined);
    assert.equal(new Refusal(524).message, 'error 524');
  });

  test('ignores what answers an earlier request', () => {
    const header = Buffer.alloc(16);
    const failed = Buffer.concat([int32(-17), header]);
    const succeeded = Buffer.concat([int32(0), header]);
    socketWith((sequence) => [
      datagram(ERROR, failed, { sequence: sequence - 1 }),
      datagram(ERROR, succeeded, { sequence }),
    ]).change(request);
  });

  test('reads no more of a dump than its limit', () => {
    let read = 0;
    const endless = new NetlinkSocket({
      send: () => undefined,
      receive(into) {
        read++;
        const next = read > 100 ? done(1) : entry(read, 1);
        next.copy(into);
        return next.length;
      },
    });
    assert.throws(() => endless.dump(request, number, 10 * entry(0, 1).length), { errno: 'E2BIG' });
    assert.equal(read, 11);
  });

  test('reads a dump of several datagrams to its end', () => {
    const socket = socketWith((sequence) => [
      Buffer.concat([entry(1, sequence), entry(2, sequence)]),
      Buffer.concat([entry(3, sequence), done(sequence)]),
    ]);
    assert.deepEqual(socket.dump(request, number), [1, 2, 3]);
  });

  test('repeats a dump that changed while it was read', () => {
    const interrupted = 2 | 0x10;
    const socket = socketWith((sequence) =>
      sequence < 3
        ? [entry(1, sequence), entry(1, sequence, interrupted), done(sequence)]
        : [entry(1, sequence), entry(2, sequence), done(sequence)],
    );
    assert.deepEqual(socket.dump(request, number), [1, 2]);
    let sent = 0;
    const restless = socketWith((sequence) => {
      sent++;
      return [entry(1, sequence, interrupted), done(sequence)];
    });
    assert.throws(() => restless.dump(request, number), { errno: 'EAGAIN' });
    assert.equal(sent, 20);
  });

  test('decodes a dump after its end, because a change until then would interrupt it', () => {
    let decoded = 0;
    const left: Buffer[] = [];
    const socket = new NetlinkSocket({
      send: (bytes) => {
        const sequence = bytes.readUInt32LE(8);
        decoded = 0;
        left.push(entry(1, sequence), entry(2, sequence), done(sequence));
      },
      receive(into) {
        const next = left.shift()!;
        // a change has come in the time in which messages were decoded
        if (decoded > 0) next.writeUInt16LE(2 | 0x10, 6);
        return next.copy(into);
      },
    });
    const found = socket.dump(request, (message) => {
      decoded++;
      return number(message);
    });
    assert.deepEqual(found, [1, 2]);
  });

  test('repeats a dump with a larger buffer when a datagram did not fit', () => {
    const long = Buffer.alloc(100_000);
    const socket = socketWith((sequence) => [
      datagram(TYPE, long, { sequence, flags: 2 }),
      done(sequence),
    ]);
    assert.deepEqual(
      socket.dump(request, ({ body }) => body.length),
      [100_000],
    );
    const get = socketWith((sequence) => [datagram(TYPE, long, { sequence })]);
    assert.equal(get.get(request).body.length, 100_000);
  });

  test('reports a dump that failed after its first entries', () => {
    const socket = socketWith((sequence) => [entry(1, sequence), done(sequence, 90)]);
    assert.throws(() => socket.dump(request, number), { errno: 'EMSGSIZE' });
  });

  test('reports a missing answer', () => {
    const socket = socketWith(() => []);
    assert.throws(() => socket.change(request), { errno: 'EAGAIN' });
    assert.throws(() => socket.dump(request, number), { errno: 'EAGAIN' });
    const malformed = socketWith(() => [Buffer.alloc(7)]);
    assert.throws(() => malformed.change(request), LinuxError);
  });
});
