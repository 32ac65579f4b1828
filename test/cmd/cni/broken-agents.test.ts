/** contiv-cni with an agent that does not do its part. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { systemClock } from '#infra/clock/system.ts';
import {
  encodeMessage,
  encodePlugin,
  encodeResult,
  kinds,
  MAX_BODY_BYTES,
} from '#plugins/podmanager/runtime-call/messages.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { declareUnless, withoutCompiler } from '#test/support/requirements.ts';
import { buildExecutable, builds, errorIn, run } from './executable.ts';
import { folder, runtimeOf } from './runtime.ts';
import { agentThat } from './stand-in-agent.ts';

const call = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c1', CNI_IFNAME: 'eth0', CNI_NETNS: '/x' };

function config(grpcServer: string, more: object = {}): string {
  const logFile = join(folder, 'broken.log');
  return JSON.stringify({ cniVersion: '1.0.0', name: 'k8s', grpcServer, logFile, ...more });
}

const result = encodeResult(0, {}, '{"a":1}\n');
const tooLong = encodeMessage(kinds.result, Buffer.alloc(0));
tooLong.writeUInt32BE(MAX_BODY_BYTES + 1, 1);

/** Bytes of the agent before it closes the connection. */
const answers: readonly (readonly [title: string, bytes: Buffer, code: number])[] = [
  ['nothing', Buffer.alloc(0), 11],
  ['a part of a head', result.subarray(0, 3), 11],
  ['a head', result.subarray(0, 5), 11],
  ['a part of a result', result.subarray(0, -1), 11],
  ['another protocol', Buffer.from('SSH-2.0-OpenSSH\r\n\r\n'), 5],
  ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 5],
  ['binary garbage', Buffer.from([0, 255, 254, 1, 2, 3]), 5],
  ['a message of its own side', encodeMessage(kinds.call, Buffer.from('x')), 5],
  ['a message that is too long', tooLong, 5],
  ['a result without a status', encodeMessage(kinds.result, Buffer.alloc(0)), 5],
  ['a result without an output', encodeMessage(kinds.result, Buffer.from('\0x')), 5],
  ['a plugin without a name', encodeMessage(kinds.plugin, Buffer.alloc(0)), 5],
  ['a plugin without a command', encodeMessage(kinds.plugin, Buffer.from('name\0ADD')), 5],
];

for (const [build, options] of Object.entries(builds))
  await declareUnless(withoutCompiler(), `contiv-cni, ${build} build`, () =>
    describe(`contiv-cni, ${build} build`, () => declare(buildExecutable(options))),
  );

function declare(executable: string): void {
  describe('with an agent that sends', () => {
    for (const [title, bytes, code] of answers)
      it(title, async () => {
        await using agent = await agentThat((connection) => connection.end(bytes));
        const error = errorIn(await run(executable, call, config(agent.socket)));
        assert.equal(error.code, code, JSON.stringify(error));
        assert.equal(error.cniVersion, '1.0.0');
        const status = { ...call, CNI_COMMAND: 'STATUS' };
        assert.equal(errorIn(await run(executable, status, config(agent.socket))).code, 50);
      });

    it('a part of each of its messages, cut after any byte', async () => {
      const plugin = encodePlugin('missing', 'ADD', '{}');
      const steps = Buffer.concat([plugin, result]);
      for (let end = 0; end < steps.length; end++) {
        await using agent = await agentThat((connection) => {
          connection.write(steps.subarray(0, Math.min(end, plugin.length)));
          if (end <= plugin.length) connection.end();
          else connection.once('data', () => connection.end(steps.subarray(plugin.length, end)));
        });
        const error = errorIn(await run(executable, call, config(agent.socket)));
        assert.equal(error.code, 11, `after ${end} bytes: ${JSON.stringify(error)}`);
      }
    });

    it('its result byte for byte', async () => {
      await using agent = await agentThat(async (connection) => {
        for (const byte of result) {
          connection.write(Buffer.from([byte]));
          await systemClock.turn();
        }
      });
      const { output, code } = await run(executable, call, config(agent.socket));
      assert.deepEqual([output, code], ['{"a":1}\n', 0]);
    });

    it('the largest result', async () => {
      const output = 'x'.repeat(MAX_BODY_BYTES - 2);
      await using agent = await agentThat((connection) =>
        connection.end(encodeResult(7, {}, output)),
      );
      const ended = await run(executable, call, config(agent.socket));
      assert.equal(ended.code, 7);
      assert.ok(ended.output === output);
    });

    it('its result before it has read the call, and closes', async () => {
      const socket = join(folder, `hasty-${executable.length}.sock`);
      const server = createServer((connection) => {
        connection.on('error', () => undefined);
        connection.end(result, () => connection.destroy());
      }).listen(socket);
      await once(server, 'listening');
      const ended = await run(executable, call, config(socket, { note: 'x'.repeat(7 << 20) }));
      server.close();
      // The result may be lost with the connection; the runtime then repeats the call.
      if (ended.code !== 0) assert.equal(errorIn(ended).code, 11);
    });

    it('the code of an unknown failure, and any text', async () => {
      const output = Buffer.from([0, 255, 10]).toString('latin1');
      await using agent = await agentThat((connection) =>
        connection.end(encodeResult(3, { code: 7 }, output)),
      );
      const ended = await run(executable, call, config(agent.socket));
      assert.deepEqual([ended.output, ended.code], ['\0\u00ff\n', 3]);
    });
  });

  describe('calls on TCP', () => {
    for (const host of ['127.0.0.1', '::1'])
      it(`at ${host}`, async (t) => {
        const server = createServer((connection) =>
          connection.once('data', () => connection.end(result)),
        );
        const listens = await new Promise((resolve) => {
          server.once('error', () => resolve(false));
          server.listen(0, host, () => resolve(true));
        });
        if (!listens) return t.skip('needs IPv6 on the loopback');
        const { port } = server.address() as { port: number };
        const servers =
          host === '::1' ? [`[::1]:${port}`] : [`127.0.0.1:${port}`, `localhost:${port}`];
        for (const one of servers) assert.equal((await run(executable, call, config(one))).code, 0);
        server.close();
      });
  });
}

await declareUnless(withoutCompiler(), 'contiv-cni at its time limit', () =>
  describe('contiv-cni at its time limit', () => {
    // A second has 20 ms.
    const executable = buildExecutable([...builds.installed, '-DSECOND_MS=20']);

    async function assertLate(grpcServer: string, more: object = {}) {
      const error = errorIn(await run(executable, call, config(grpcServer, more)));
      assert.equal(error.code, 11);
      assert.match(error.msg, /^no reply from the agent at .* in time$/);
      assert.equal(error.details, 'the limit is 100 s');
    }

    it('with an agent that does not answer', async () => {
      await using agent = await agentThat(() => undefined);
      await assertLate(agent.socket);
      const status = { ...call, CNI_COMMAND: 'STATUS' };
      assert.equal(errorIn(await run(executable, status, config(agent.socket))).code, 50);
    });

    it('with an agent that answers without an end', async () => {
      await using agent = await agentThat((connection) => {
        connection.write(encodeMessage(kinds.result, Buffer.alloc(9000)).subarray(0, 9));
      });
      await assertLate(agent.socket);
    });

    it('with an agent that does not read the call', async () => {
      const waiting: Socket[] = [];
      const socket = join(folder, 'unread.sock');
      const server = createServer({ pauseOnConnect: true }, (one) => waiting.push(one)).listen(
        socket,
      );
      await once(server, 'listening');
      await assertLate(socket, { note: 'x'.repeat(7 << 20) });
      for (const one of waiting) one.destroy();
      server.close();
    });

    it('with an agent that accepts no connection', async () => {
      const socket = join(folder, 'unaccepted.sock');
      const source = `
        const { createServer } = require('node:net');
        const { parentPort, workerData } = require('node:worker_threads');
        createServer().listen({ path: workerData, backlog: 1 }, () => {
          parentPort.postMessage('listening');
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        });`;
      const worker = new Worker(source, { eval: true, workerData: socket });
      await once(worker, 'message');
      const queued = Array.from({ length: 4 }, () => connect(socket).on('error', () => undefined));
      await systemClock.sleep(20);
      await assertLate(socket);
      for (const one of queued) one.destroy();
      await worker.terminate();
    });
  }),
);

const FILE = 'test/cmd/cni/broken-agents.test.ts';
const TITLE = 'ends with a result or an error whatever the agent sends';

await declareUnless(withoutCompiler(), `contiv-cni ${TITLE}`, () =>
  it(TITLE, { timeout: 120_000 }, async () => {
    const executable = buildExecutable(builds.checking);
    const valid = fc.constantFrom(
      result,
      encodePlugin('absent', 'ADD', '{}'),
      encodeMessage(kinds.plugin, Buffer.from('\0\0')),
      Buffer.concat([encodePlugin('../absent', '', ''), result]),
    );
    const mutated = fc
      .tuple(valid, fc.array(fc.tuple(fc.nat(40), fc.nat(255)), { maxLength: 4 }), fc.nat(60))
      .map(([bytes, changes, length]) => {
        const changed = Buffer.from(bytes);
        for (const [at, byte] of changes) if (at < changed.length) changed[at] = byte;
        return changed.subarray(0, length);
      });
    const bytes = fc.oneof(
      mutated,
      fc.uint8Array({ maxLength: 40 }).map((list) => Buffer.from(list)),
    );
    await checkProperty(
      { file: FILE, name: TITLE },
      60,
      fc.asyncProperty(bytes, async (sent) => {
        await using agent = await agentThat((connection) => connection.end(sent));
        const ended = await run(executable, call, config(agent.socket));
        // A sanitizer would have written its report.
        assert.equal(ended.errors, '');
        assert.equal(ended.signal, null);
        if (sent[0] !== result[0] && sent[0] !== encodePlugin('', '', '')[0])
          assert.ok([5, 11].includes(errorIn(ended).code));
      }),
    );
  }),
);

await declareUnless(withoutCompiler(), 'contiv-cni on a socket path', () =>
  it('accepts the forms unix:path and unix://path', async () => {
    const runtime = runtimeOf(buildExecutable());
    await using agent = await agentThat((connection) => connection.end(result));
    for (const prefix of ['unix:', 'unix://'])
      assert.deepEqual(
        await runtime(
          { cniVersion: '1.0.0', name: 'k8s' },
          { command: 'DEL', config: { grpcServer: prefix + agent.socket } },
        ),
        { a: 1 },
      );
  }),
);
