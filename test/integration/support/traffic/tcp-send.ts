/** tcp-send.ts <address> <port> <megabytes>: sends random bytes and prints their digest. */
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';

const [address = '', port = '', megabytes = ''] = process.argv.slice(2);
const hash = createHash('sha256');
let bytes = 0;
const socket = connect(Number(port), address);
await pipeline(function* () {
  for (let i = 0; i < Number(megabytes); i++) {
    const chunk = randomBytes(1024 * 1024);
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
}, socket);
process.stdout.write(`${JSON.stringify({ bytes, sha256: hash.digest('hex') })}\n`);
