import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ip4Frame } from '#test/netctl/capture/packets.ts';
import { deniedPacket } from '#vpp/packets/denied-packet.ts';

describe('a denied packet', () => {
  it('has its ends', () => {
    const frame = ip4Frame('10.1.1.2', '10.1.2.3', 6, [40_000, 80]);
    assert.deepEqual(deniedPacket(7, Buffer.concat([frame, Buffer.alloc(20)])), {
      time: 7,
      protocol: 'TCP',
      source: { address: '10.1.1.2', port: 40_000 },
      destination: { address: '10.1.2.3', port: 80 },
      isAnswer: false,
    });
  });

  it('may be a datagram without bytes', () => {
    const frame = ip4Frame('10.1.1.2', '10.1.2.3', 17, [1, 53]);
    assert.equal(deniedPacket(7, frame)?.destination.port, 53);
  });

  it('of another protocol has no ends', () => {
    assert.equal(deniedPacket(7, ip4Frame('10.1.1.2', '10.1.2.3', 1, [8, 0])), undefined);
  });

  it('may have any bytes, and any length', () => {
    const good = Buffer.concat([ip4Frame('10.1.1.2', '10.1.2.3', 6, [1, 2]), Buffer.alloc(40)]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.nat({ max: 100 }), (bytes, kept) => {
        deniedPacket(0, Buffer.from(bytes));
        deniedPacket(0, Buffer.concat([good.subarray(0, kept), Buffer.from(bytes)]));
      }),
    );
  });
});
