/** contiv-cni as the container runtime runs it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  buildContivCni,
  checkingOptions,
  executableOptions,
} from '../../../scripts/lib/contiv-cni.ts';

/** Two builds: the one that is installed, and one that stops at undefined behavior. */
export const builds = { installed: executableOptions, checking: checkingOptions } as const;

/** @returns a new folder, deleted at the end of this process */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'contiv-cni-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** @param options of the compiler @returns the file of the executable */
export function buildExecutable(options: readonly string[] = builds.installed): string {
  const file = join(temporaryFolder(), 'contiv-cni');
  buildContivCni(file, options);
  return file;
}

export interface Ended {
  readonly output: string;
  readonly errors: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Variables = Readonly<Record<string, string>>;

/** Runs it; the end of a child is awaited with its pipes. */
export async function run(file: string, env: Variables, input: string | Buffer): Promise<Ended> {
  const child = spawn(file, { env });
  // It may exit before it has read its input.
  child.stdin.on('error', () => undefined).end(input);
  const [output, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { output, errors, code, signal };
}

export interface ErrorResult {
  readonly cniVersion: string;
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

/** The error that the runtime reads. @throws for any other output */
export function errorIn({ output, code }: Ended): ErrorResult {
  const error = JSON.parse(output);
  if (code !== 1 || typeof error.code !== 'number') throw new Error(`${code}: ${output}`);
  return error;
}
