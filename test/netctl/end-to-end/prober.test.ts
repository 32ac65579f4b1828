import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { MAX_PROBES, outcomes, type Probe, type ProbeResult } from '#netctl/end-to-end/probe.ts';
import { runProber } from '#netctl/end-to-end/prober.ts';

const main = resolve(import.meta.dirname, '../../../src/cmd/netctl/main.ts');
/** The status of a pod has no more of it. */
const MESSAGE_BYTES = 4096;

describe('the program of the pods of netctl test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'netctl-prober-'));
  let child: ChildProcess;
  let port = 0;
  let stalling: Server;
  before(async () => {
    port = await freePort();
    child = spawn(main, ['__probe', 'serve', 'server-1', String(port)], { stdio: 'inherit' });
    // It says its name, and no more.
    stalling = createServer((socket) => socket.write('server-1\n')).listen(0, '127.0.0.1');
    await new Promise((done) => stalling.once('listening', done));
  });
  after(() => {
    child.kill();
    stalling.close();
    rmSync(folder, { recursive: true });
  });

  const to = (given: Partial<Probe>): Probe => ({
    host: '127.0.0.1',
    port,
    protocol: 'TCP',
    by: 'server-',
    answers: true,
    ...given,
  });

  async function results(...probes: readonly Probe[]): Promise<readonly ProbeResult[]> {
    const file = join(folder, 'results');
    const { signal } = new AbortController();
    await runProber(['connect', file, JSON.stringify(probes)], systemClock, signal);
    return JSON.parse(readFileSync(file, 'utf8')) as readonly ProbeResult[];
  }

  it('is answered, once the server is there', async () => {
    const [tcp, udp, named] = await results(
      to({}),
      to({ protocol: 'UDP' }),
      to({ host: 'localhost' }),
    );
    assert.deepEqual([tcp?.[0], udp?.[0], named?.[0]], ['answered', 'answered', 'answered']);
  });

  it('tells what it met instead', async () => {
    const { port: stalled } = stalling.address() as AddressInfo;
    const answers = false;
    const found = await results(
      to({ port: await freePort(), answers }),
      to({ port: await freePort(), answers, protocol: 'UDP' }),
      to({ port: stalled, answers }),
      to({ by: 'isolated-', answers }),
      to({ host: 'no-such-name.invalid', answers }),
    );
    assert.deepEqual(
      found.map(([outcome]) => outcome),
      ['refused', 'refused', 'stalled', 'wrong pod', 'unknown name'],
    );
  });

  it('tells all that it may try within the message of a pod', () => {
    const longest = outcomes.toSorted((a, b) => b.length - a.length)[0]!;
    const message = JSON.stringify(Array.from({ length: MAX_PROBES }, () => [longest, 20_999.9]));
    assert.ok(message.length <= MESSAGE_BYTES, `${message.length} bytes`);
  });
});

async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  const { port } = socket.address();
  await new Promise<void>((done) => socket.close(done));
  return port;
}
