/** Network namespaces of a test. Nothing runs in the namespace of the machine. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDER = '/run/netns';
/** Names contain the process id, which identifies namespaces of killed runs. */
const NAME_PATTERN = /^cv(\d+)-/;

const created = new Set<string>();
let count = 0;

/** Removes namespaces whose process has exited. */
function removeStale(): void {
  for (const name of existsSync(FOLDER) ? readdirSync(FOLDER) : []) {
    const pid = NAME_PATTERN.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
  }
}

process.on('exit', () => {
  for (const name of created) execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
});

export class Netns {
  readonly name: string;
  readonly path: string;

  /** A new namespace with `lo` up. */
  static async create(label: string): Promise<Netns> {
    if (count === 0) removeStale();
    const netns = new Netns(`cv${process.pid}-${label}-${count++}`);
    await run('ip', ['netns', 'add', netns.name]);
    created.add(netns.name);
    await netns.run('ip', 'link', 'set', 'lo', 'up');
    return netns;
  }

  private constructor(name: string) {
    this.name = name;
    this.path = `${FOLDER}/${name}`;
  }

  /** Prefix of a command that runs here. */
  get enter(): readonly string[] {
    return enter(this.path);
  }

  /** Runs a command to its end. @returns what it printed */
  run(...command: readonly string[]): Promise<string> {
    return runIn(this.path, ...command);
  }

  async remove(): Promise<void> {
    if (created.delete(this.name)) await run('ip', ['netns', 'del', this.name]);
  }
}

/** `nsenter` becomes the command, so the process is the same. */
export function enter(path: string): readonly string[] {
  return ['nsenter', `--net=${path}`];
}

export async function runIn(path: string, ...command: readonly string[]): Promise<string> {
  const [program = '', ...args] = [...enter(path), ...command];
  const { stdout } = await run(program, args, { timeout: 60_000 });
  return stdout;
}
