/** The server of contiv-cni, called by clients that are slow, disconnected or malicious. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '#infra/clock/clock.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { CNIReply, StatusReply } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import type { CniService } from '#plugins/podmanager/cni-service.ts';
import { type CniServer, serveCni } from '#plugins/podmanager/cni-socket.ts';
import {
  encodeMessage,
  kinds,
  MAX_BODY_BYTES,
  PREFACE,
} from '#plugins/podmanager/runtime-call/messages.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { until } from '#test/support/wait.ts';

const replies = messageCodec(CNIReply);
const quiet: CniService = {
  add: async () => replies.canonical({}),
  delete: async () => replies.canonical({}),
  check: async () => replies.canonical({}),
  gc: async () => replies.canonical({}),
  status: async () => messageCodec(StatusReply).canonical({ ready: true }),
};

const folder = mkdtempSync(join(tmpdir(), 'cni-calls-'));
const servers: CniServer[] = [];
after(async () => {
  await Promise.all(servers.map((server) => server.close(0)));
  rmSync(folder, { recursive: true });
});

async function listen(service: Partial<CniService> = {}, clock: Clock = systemClock) {
  const socketPath = join(folder, `${servers.length}.sock`);
  const server = await serveCni({
    service: { ...quiet, ...service },
    socketPath,
    mode: 0o700,
    replaceStale: true,
    clock,
    log: silentLogger,
  });
  servers.push(server);
  return { socketPath, server };
}

function open(socketPath: string, ...bytes: readonly Buffer[]): Socket {
  const socket = connect(socketPath).on('error', () => undefined);
  for (const piece of bytes) socket.write(piece);
  return socket;
}

const document = { cniVersion: '1.0.0', name: 'k8s' };

function callBody(command: string, config: object = document, more: readonly string[] = []) {
  const variables = [
    `CNI_COMMAND=${command}`,
    'CNI_CONTAINERID=c1',
    'CNI_IFNAME=eth0',
    'CNI_NETNS=/run/netns/c1',
    ...more,
  ];
  return Buffer.from(`${variables.join('\0')}\0\0${JSON.stringify(config)}`);
}

function call(...of: Parameters<typeof callBody>): Buffer {
  return Buffer.concat([PREFACE, encodeMessage(kinds.call, callBody(...of))]);
}

/** The body of the result, without its head. */
async function resultOf(socket: Socket): Promise<string> {
  const bytes = await buffer(socket);
  assert.equal(bytes.toString('latin1', 0, 1), kinds.result);
  assert.equal(bytes.readUInt32BE(1), bytes.length - 5);
  return bytes.toString('utf8', 5);
}

const closed = (socket: Socket) => once(socket.resume(), 'close');

describe('a call of contiv-cni', () => {
  it('is answered, wherever it is split', async () => {
    const seen: object[] = [];
    const { socketPath } = await listen({
      delete: async ({ container_id, extra_arguments, extra_nw_config }) => {
        seen.push({ container_id, extra_arguments, extra_nw_config });
        return replies.canonical({ result: 1, error: 'no' });
      },
    });
    const bytes = call('DEL', document, ['CNI_ARGS=A=b=é;C', 'CNI_ODD']);
    for (const size of [1, 2, 3, 5, bytes.length]) {
      const socket = open(socketPath);
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.subarray(at, at + size));
        if (size < 5) await systemClock.turn();
      }
      assert.equal(
        await resultOf(socket),
        '\x01,"code":100,"msg":"no"\0{"cniVersion":"1.0.0","code":100,"msg":"no"}\n',
      );
      const extra_nw_config = JSON.stringify(document);
      assert.deepEqual(seen.splice(0), [
        { container_id: 'c1', extra_arguments: 'A=b=é;C', extra_nw_config },
      ]);
    }
  });

  it('that has no variables says what it needs', async () => {
    const { socketPath } = await listen();
    const body = Buffer.from(`\0${JSON.stringify(document)}`);
    const socket = open(socketPath, PREFACE, encodeMessage(kinds.call, body));
    assert.match(await resultOf(socket), /"code":4,"msg":"CNI_COMMAND is not set"/);
  });

  it('fails with the text of an unexpected error', async () => {
    const { socketPath } = await listen({ delete: () => Promise.reject(new Error('defect')) });
    assert.match(await resultOf(open(socketPath, call('DEL'))), /"code":100,"msg":"defect"/);
  });

  it('lets a handler know that the caller has disconnected', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { socketPath } = await listen({
      add: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal!.addEventListener('abort', () => {
            resolve(signal!.reason);
            reject(signal!.reason);
          });
        }),
    });
    const socket = open(socketPath, call('ADD'));
    await systemClock.sleep(50);
    socket.destroy();
    assert.match(String(await promise), /has disconnected/);
  });

  it('ends when the caller disconnects while its IPAM plugin runs', async () => {
    const { socketPath, server } = await listen({ add: () => assert.fail('not called') });
    const socket = open(socketPath, call('ADD', { ...document, ipam: { type: 'x' } }));
    await once(socket, 'data');
    socket.destroy();
    await server.close(60_000);
  });
});

describe('a client of the CNI socket', { timeout: 60_000 }, () => {
  const plugin = { ...document, ipam: { type: 'x' } };
  const ended = encodeMessage(kinds.ended, Buffer.from('x\0/x\0{}'));
  const unfit = encodeMessage(kinds.call, Buffer.alloc(0));
  unfit.writeUInt32BE(MAX_BODY_BYTES + 1, 1);
  const invalid: readonly (readonly [title: string, ...bytes: Buffer[]])[] = [
    ['another protocol', Buffer.from('POST /cni.RemoteCNI/Add HTTP/1.1\r\n\r\n')],
    ['another version of the protocol', Buffer.from('CNI2C')],
    ['binary garbage', Buffer.from([0, 255, 3, 80, 82, 73])],
    ['a message that is too long', PREFACE, unfit],
    ['a call without variables and configuration', PREFACE, encodeMessage('C', Buffer.alloc(0))],
    ['variables without an end', PREFACE, encodeMessage('C', Buffer.from('CNI_COMMAND=ADD\0'))],
    ['the end of a plugin instead of a call', PREFACE, ended],
    ['a message of the agent', PREFACE, encodeMessage(kinds.result, Buffer.from('\0\0'))],
    [
      'an end of a plugin without a path',
      call('ADD', plugin),
      encodeMessage('E', Buffer.from('x')),
    ],
    ['two ends of one plugin', call('DEL', plugin), ended, ended],
    ['two calls', call('ADD', plugin), encodeMessage(kinds.call, callBody('ADD'))],
  ];
  for (const [title, ...bytes] of invalid)
    it(`is disconnected when it sends ${title}`, async () => {
      const { socketPath } = await listen({ delete: () => new Promise(() => undefined) });
      await closed(open(socketPath, ...bytes));
      assert.match(
        await resultOf(open(socketPath, call('STATUS', { ...document, cniVersion: '1.1.0' }))),
        /^\0\0$/,
      );
    });

  it('is disconnected when it does not send its call, or the end of a plugin, in time', async () => {
    const clock = new ManualClock();
    const { socketPath } = await listen({}, clock);
    const whole = call('ADD', plugin);
    const starts = [0, 2, 4, 9, 30].map((size) => whole.subarray(0, size));
    const late = starts.map((start) => closed(open(socketPath, start)));
    const running = open(socketPath, whole);
    await once(running, 'data');
    const end = closed(running);
    await systemClock.sleep(50);
    await clock.advance(10_000);
    await Promise.all(late);
    assert.equal(running.closed, false);
    await clock.advance(110_000);
    await end;
  });

  it('does not delay the end of the agent', async () => {
    const { socketPath, server } = await listen();
    const idle = [
      Buffer.alloc(0),
      Buffer.from('PR'),
      Buffer.from('CNI'),
      call('ADD').subarray(0, 30),
    ];
    const ends = idle.map((start) => closed(open(socketPath, start)));
    await systemClock.sleep(50);
    await server.close(60_000);
    await Promise.all(ends);
  });

  it('may send a call of 8 MiB, and does not block the next one with it', async () => {
    const { socketPath } = await listen();
    const large = open(socketPath, call('DEL', { ...document, note: 'x'.repeat(8_000_000) }));
    const small = open(socketPath, call('DEL'));
    assert.deepEqual([await resultOf(small), await resultOf(large)], ['\0\0', '\0\0']);
  });

  const title = 'does no harm, whatever it sends';
  it(title, async () => {
    let calls = 0;
    const { socketPath } = await listen({
      delete: async () => {
        calls++;
        return replies.canonical({});
      },
    });
    const whole = call('ADD', plugin);
    const bytes = fc
      .tuple(fc.array(fc.tuple(fc.nat(whole.length), fc.nat(255)), { maxLength: 5 }), fc.nat(200))
      .map(([changes, length]) => {
        const changed = Buffer.concat([whole, ended]);
        for (const [at, byte] of changes) changed[at] = byte;
        return changed.subarray(0, length);
      });
    await checkProperty(
      { file: 'test/plugins/podmanager/runtime-call/call-server.test.ts', name: title },
      300,
      fc.asyncProperty(bytes, async (sent) => {
        const socket = open(socketPath, sent).resume();
        socket.end();
        await closed(socket);
      }),
    );
    assert.equal(await resultOf(open(socketPath, call('DEL'))), '\0\0');
    await until('the call is counted', () => calls > 0);
  });
});
