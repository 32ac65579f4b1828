/**
 * Preloaded into an agent (`--import`): records its messages to VPP and its batches to the kernel
 * in the file RECORD_FILE. The file is written when the agent is idle, so that recording does not
 * slow the agent down. RECORD_SOCKET is the API socket of VPP.
 */
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net, { type NetConnectOpts, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { Command } from '#linux/kernel/commands.ts';
import { answersOf } from './kernel-answers.ts';
import { now, type RecordedEntry } from './recording.ts';

const IDLE_MS = 100;
const { RECORD_FILE: file = '', RECORD_SOCKET: vppSocket = '' } = process.env;
let entries: (() => RecordedEntry)[] = [];
let timer: NodeJS.Timeout | undefined;
let batches = 0;

/** The expensive part of an entry runs when the file is written. */
function record(entry: () => RecordedEntry): void {
  entries.push(entry);
  timer?.refresh();
  timer ??= setTimeout(() => {
    timer = undefined;
    const lines = entries.map((one) => `${JSON.stringify(one())}\n`);
    entries = [];
    appendFileSync(file, lines.join(''));
  }, IDLE_MS).unref();
}

const { createConnection } = net;
type Read = NonNullable<NetConnectOpts['onread']>;
net.createConnection = ((options: NetConnectOpts & { path?: string }, ...rest: []) => {
  if (typeof options !== 'object' || options.path !== vppSocket || !options.onread)
    return createConnection(options, ...rest);
  const { buffer, callback } = options.onread;
  const recordRead: Read['callback'] = (length, bytes) => {
    const at = now();
    const copy = Buffer.from(bytes.subarray(0, length));
    record(() => ({ at, kind: 'received', bytes: copy.toString('base64') }));
    return callback(length, bytes);
  };
  const socket = createConnection({ ...options, onread: { buffer, callback: recordRead } });
  const write = socket.write.bind(socket) as (bytes: Uint8Array) => boolean;
  socket.write = ((bytes: Uint8Array) => {
    const at = now();
    const copy = Buffer.from(bytes);
    record(() => ({ at, kind: 'sent', bytes: copy.toString('base64') }));
    return write(bytes);
  }) as Socket['write'];
  return socket;
}) as typeof createConnection;

const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (batch: readonly Command[]) {
  const at = now();
  const id = batches++;
  record(() => ({ at, kind: 'started', id, batch }));
  void answersOf(this, batch.length).then(() => {
    const ended = now();
    record(() => ({ at: ended, kind: 'ended', id }));
  });
  postMessage.call(this, batch);
};

syncBuiltinESMExports();
