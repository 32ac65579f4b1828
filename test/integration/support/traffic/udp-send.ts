/**
 * udp-send.ts <address> <port> <per second>: sends numbered packets until its input ends, then prints
 * their number. A sender that falls behind does not catch up in a burst, which would overrun the
 * receiver.
 */
import { createSocket } from 'node:dgram';

const [address = '', port = '', rate = ''] = process.argv.slice(2);
const BURST = 10;
const socket = createSocket('udp4');
socket.connect(Number(port), address, () => {
  const begin = performance.now();
  let sent = 0;
  let due = begin;
  const timer = setInterval(() => {
    const now = performance.now();
    const pause = 1000 / Number(rate);
    if (now - due > BURST * pause) due = now - BURST * pause;
    for (; due <= now; due += pause) {
      const packet = Buffer.alloc(64);
      packet.writeUInt32BE(sent++);
      socket.send(packet);
    }
  }, 1);
  process.stdin.on('end', () => {
    clearInterval(timer);
    const seconds = (performance.now() - begin) / 1000;
    process.stdout.write(`${JSON.stringify({ sent, seconds })}\n`);
    socket.close();
  });
  process.stdin.resume();
});
