import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/iproute/host.ts';
import type { LinuxBackend } from '#test/linux/iproute/host/bench.ts';

const run = promisify(execFile);

/** One line on what this machine lacks for suites on its own kernel; undefined when nothing. */
export async function kernelMissing(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  const probe = `cvprobe${process.pid}`;
  try {
    await run('nsenter', ['--version']);
    await run('ethtool', ['--version']);
    await run('ip', ['netns', 'add', probe]);
    await run('ip', ['netns', 'del', probe]);
    return undefined;
  } catch {
    return 'install iproute2, util-linux and ethtool, and allow network namespaces';
  }
}

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
