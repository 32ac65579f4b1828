/**
 * The programs of bench/reference: the Go systems that the agent replaces, and bare clients in C. They
 * are built in a folder that is removed when this process ends.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const sources = join(import.meta.dirname, '../reference');

/** Of work that a program did. */
export interface Cost {
  readonly ms: number;
  /** Processor time of all threads. */
  readonly cpuMs: number;
}

export class ReferenceProgram<Result extends Cost> {
  readonly file: string;

  /**
   * The Go program in a folder of bench/reference.
   * @throws without `go`, or when the modules are neither cached nor to be had from the module proxy
   */
  static async go<Result extends Cost>(folder: string): Promise<ReferenceProgram<Result>> {
    const file = target(folder);
    const options = ['-mod=readonly', '-buildvcs=false', '-o', file];
    await run('go', ['build', ...options, '.'], { cwd: join(sources, folder) });
    return new ReferenceProgram(file);
  }

  /** A file of C in bench/reference. @throws without `cc` */
  static async c<Result extends Cost>(source: string): Promise<ReferenceProgram<Result>> {
    const file = target(basename(source, '.c'));
    await run('cc', ['-O2', '-o', file, join(sources, source)]);
    return new ReferenceProgram(file);
  }

  private constructor(file: string) {
    this.file = file;
  }

  /** Runs it once, in a new process. @returns the line of JSON that it prints */
  async run(...args: readonly (string | number)[]): Promise<Result> {
    const { stdout } = await run(this.file, args.map(String));
    return JSON.parse(stdout) as Result;
  }
}

function target(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, name);
}
