/** The kernel of this machine as a backend: for suites over LinuxHost and over the descriptors. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type { Machine } from '#test/linux/descriptors/backends.ts';
import type { LinuxBackend } from '#test/linux/kernel/host/bench.ts';

const run = promisify(execFile);

let count = 0;

/** Works in namespaces of its own and never in that of the machine. */
export async function kernelBackend(): Promise<LinuxBackend> {
  const names = new Set<string>();
  const remove = async (name: string) => {
    if (names.delete(name)) await run('ip', ['netns', 'del', name]);
  };
  return {
    host: kernelHost({ clock: systemClock }),
    async makeNamespace() {
      const name = `cvtest${process.pid}-${count++}`;
      await run('ip', ['netns', 'add', name]);
      names.add(name);
      return `/run/netns/${name}`;
    },
    removeNamespace: (path) => remove(path.slice('/run/netns/'.length)),
    async makeTap(namespace, name) {
      const netns = namespace.slice('/run/netns/'.length);
      await run('ip', ['-n', netns, 'tuntap', 'add', 'dev', name, 'mode', 'tap']);
    },
    async close() {
      for (const name of [...names]) await remove(name);
    },
  };
}

/** The kernel of this machine; its namespaces are needed before the suites are declared. */
export async function kernelMachine(): Promise<Machine> {
  const linux = await kernelBackend();
  const [own, named, file] = [
    await linux.makeNamespace(),
    await linux.makeNamespace(),
    await linux.makeNamespace(),
  ];
  const process = await namespaceOfProcess();
  return {
    name: 'kernel',
    host: linux.host,
    spaces: {
      own,
      pods: [
        { type: 'NSID', reference: named.slice('/run/netns/'.length) },
        { type: 'PID', reference: String(process.pid) },
        { type: 'FD', reference: file },
      ],
    },
    makeTap: linux.makeTap,
    async close() {
      const ended = once(process, 'exit');
      process.kill('SIGKILL');
      await ended;
      await linux.close();
    },
  };
}

/** A process that does nothing in a network namespace of its own. */
async function namespaceOfProcess(): Promise<ChildProcess> {
  const child = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' });
  const own = readlinkSync('/proc/self/ns/net');
  while (readlinkSync(`/proc/${child.pid}/ns/net`) === own) await sleep(5);
  return child;
}
