/** Commands in a root file system, with mounts of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

export interface ChrootCommand {
  readonly root: string;
  /** Argument vector in the root. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** Commands of the shell, before the change of the root, which is in `$root`. */
  readonly mounts: readonly string[];
  /** Whether it sees the processes of the machine, as with `hostPID`; otherwise those it leaves end with it. */
  readonly sharesProcesses: boolean;
}

/** @returns the argument vector that runs it */
export function chrootCommand(options: ChrootCommand): string[] {
  const { root, command, env, workdir, mounts, sharesProcesses } = options;
  const prepare = [
    'set -e',
    'root=$1 workdir=$2',
    'shift 2',
    'mount -t proc proc "$root/proc"',
    'mount --rbind /dev "$root/dev"',
    ...mounts,
    `exec chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$workdir" "$@"`,
  ].join('\n');
  return [
    ...['unshare', '--mount', ...(sharesProcesses ? [] : ['--pid', '--fork', '--kill-child'])],
    ...['env', '-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
    ...['/bin/sh', '-c', prepare, 'sh', root, workdir, ...command],
  ];
}

/**
 * @param log gets the output
 * @throws Error with the name of the log when the command fails
 */
export async function runInChroot(command: ChrootCommand, log: string): Promise<void> {
  const [program, ...args] = chrootCommand(command);
  const file = createWriteStream(log, { flags: 'a' });
  file.write(`+ ${command.command.join(' ')}\n`);
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const [code] = await once(child, 'close');
  file.end();
  if (code !== 0) throw new Error(`exit code ${code}, see ${log}: ${command.command.join(' ')}`);
}
