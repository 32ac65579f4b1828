/**
 * A client that shares nothing with the agent: HTTP/2 of Node.js and protobuf written byte for byte,
 * with the numbers of the original's cni.proto.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';

/** Fields of wire type 2, shorter than 128 bytes or not. */
function message(fields: Readonly<Record<number, string>>): Buffer {
  return Buffer.concat(
    Object.entries(fields).flatMap(([number, text]) => {
      const bytes = Buffer.from(text);
      const length =
        bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
      return [Buffer.from([(Number(number) << 3) | 2, ...length]), bytes];
    }),
  );
}

/** Each field's number with its bytes, or its number. */
function fields(bytes: Buffer): [number, Buffer | number][] {
  const found: [number, Buffer | number][] = [];
  for (let at = 0; at < bytes.length; ) {
    const varint = (): number => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++]!;
        value |= (byte & 127) << shift;
        if (byte < 128) return value;
      }
    };
    const tag = varint();
    if ((tag & 7) === 0) found.push([tag >> 3, varint()]);
    else {
      const length = varint();
      found.push([tag >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return found;
}

async function call(socket: string, method: string, request: Buffer) {
  const session = connect('http://agent', { createConnection: () => connectSocket(socket) });
  const stream = session.request({
    ':method': 'POST',
    ':path': `/cni.RemoteCNI/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(request.length, 1);
  stream.end(Buffer.concat([head, request]));
  const pieces: Buffer[] = [];
  let status = '';
  stream.on('data', (piece) => pieces.push(piece));
  // An answer without a message has it at once.
  for (const event of ['response', 'trailers'] as const)
    stream.on(event, (headers) => {
      status = String(headers['grpc-status'] ?? status);
    });
  await new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject));
  session.close();
  return { status, fields: fields(Buffer.concat(pieces).subarray(5)) };
}

describe('the gRPC service under an independent client', () => {
  let running: RunningAgent;
  before(async () => {
    running = await startAgent(makeNode());
  });
  after(() => running.stop());

  const request = message({
    1: '0.3.1',
    2: 'c1',
    3: '/run/netns/web',
    4: 'eth0',
    6: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web',
  });

  it('adds and deletes a pod', async () => {
    running.node.linux.addNamespace('/run/netns/web');
    const added = await call(running.socket, 'Add', request);
    assert.equal(added.status, '0');
    const [[number, body] = [0, 0], ...others] = added.fields;
    assert.equal(number, 4);
    const parts = fields(body as Buffer);
    const text = (of: number) => String(parts.find(([one]) => one === of)![1]);
    assert.deepEqual([text(1), text(3)], ['eth0', '/run/netns/web']);
    const address = fields(parts.find(([one]) => one === 4)![1] as Buffer);
    assert.deepEqual(
      address.map(([one, value]) => [one, String(value)]),
      [
        [2, '10.1.1.2/32'],
        [3, '10.1.1.1'],
      ],
    );
    const [route] = others.filter(([one]) => one === 5);
    assert.deepEqual(
      fields(route![1] as Buffer).map(([one, value]) => [one, String(value)]),
      [
        [1, '0.0.0.0/0'],
        [2, '10.1.1.1'],
      ],
    );
    assert.deepEqual(await call(running.socket, 'Delete', request), { status: '0', fields: [] });
  });

  it('receives the error', async () => {
    // The original contiv-cni reads nothing but the status.
    const refused = await call(running.socket, 'Add', message({ 2: 'c2' }));
    assert.deepEqual(refused, { status: '3', fields: [] });
    assert.equal((await call(running.socket, 'Sub', request)).status, '12');
    assert.equal((await call(running.socket, 'Add', Buffer.from([255]))).status, '13');
  });
});
