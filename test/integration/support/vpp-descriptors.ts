/** A real VPP in its own network namespace, for the suites that hold us against it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { Connect } from '#vpp/binapi/api.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';

export interface RunningVpp {
  readonly client: BinapiClient;
  /** For further clients. */
  readonly connect: Connect;
  readonly version: string;
  /** Path of the network namespace that it lives in. */
  readonly namespace: string;
  stop(): Promise<void>;
}

/** Why none can be started here; undefined when one can. */
export function noVppBecause(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root, to give VPP a network namespace';
  try {
    execFileSync('vpp', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'install VPP (the binary `vpp` on the PATH)';
  }
}

export async function startVpp(): Promise<RunningVpp> {
  const folder = mkdtempSync(join(tmpdir(), 'contiv-vpp-'));
  const socket = join(folder, 'api.sock');
  const config = join(folder, 'startup.conf');
  writeFileSync(
    config,
    [
      `unix { nodaemon nosyslog nobanner runtime-dir ${folder} cli-listen ${join(folder, 'cli.sock')}`,
      `log ${join(folder, 'vpp.log')} poll-sleep-usec 100 }`,
      `socksvr { socket-name ${socket} }`,
      `statseg { socket-name ${join(folder, 'stats.sock')} size 32M page-size 4k }`,
      'memory { main-heap-size 512M main-heap-page-size 4k }',
      'buffers { buffers-per-numa 16384 page-size 4k }',
      `punt { socket ${join(folder, 'punt.sock')} }`,
      'plugins { plugin dpdk_plugin.so { disable } }',
      '',
    ].join('\n'),
  );
  // however the suite ends, VPP ends with it
  const command = ['--pdeathsig', 'KILL', 'unshare', '--net', 'vpp', '-c', config];
  const vpp = spawn('setpriv', command, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [vpp.stdout, vpp.stderr]) {
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-4000);
    });
  }
  const ended = new Promise<void>((resolve) => vpp.once('exit', () => resolve()));
  const connect = unixConnect(socket, systemClock);
  const client = new BinapiClient({
    connect,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  const stop = async (): Promise<void> => {
    await client.close();
    // one that is stuck in a message, or in reporting that it broke, heeds no other signal
    vpp.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  };
  client.start();
  const failed = ended.then(() => Promise.reject(new Error(`VPP ended: ${output}`)));
  try {
    await Promise.race([client.whenConnected(), failed]);
    failed.catch(() => undefined);
    const { version } = await client.request('show_version', {});
    return { client, connect, version, namespace: namespaceOf(vpp), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `setpriv` becomes `unshare`, and that VPP, so the process is the same. */
function namespaceOf(vpp: ChildProcess): string {
  readFileSync(`/proc/${vpp.pid}/comm`);
  return `/proc/${vpp.pid}/ns/net`;
}
