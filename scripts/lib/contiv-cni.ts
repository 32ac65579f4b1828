/** Compiles contiv-cni, the program of src/cmd/cni. */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';

const sources = join(import.meta.dirname, '../../src/cmd/cni');

const warnings = ['-Wall', '-Wextra', '-Wconversion', '-Wshadow', '-Wstrict-prototypes', '-Werror'];

const language = ['-std=c11', '-D_GNU_SOURCE'];

/** The host needs no library for it: static. Its addresses are random: pie. */
export const executableOptions: readonly string[] = [
  '-Os',
  '-static-pie',
  '-fPIE',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
  '-Wl,-z,relro,-z,now,-z,noexecstack',
  '-s',
];

/** Stops at the first access outside of an object, and at the first operation without a defined result. */
export const checkingOptions: readonly string[] = [
  '-O1',
  '-g',
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=all',
];

/**
 * @param target file of the executable; replaced atomically, so that running processes continue
 * @param options of the compiler
 */
export function buildContivCni(target: string, options = executableOptions): void {
  compile(globSync(join(sources, '*.c')).sort(), target, options);
}

/** @param files C sources, which may include those of contiv-cni */
export function compile(
  files: readonly string[],
  target: string,
  options: readonly string[] = executableOptions,
): void {
  mkdirSync(dirname(target), { recursive: true });
  const aside = `${target}.new`;
  execFileSync(
    'gcc',
    [...language, ...warnings, ...options, `-I${sources}`, '-o', aside, ...files],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  renameSync(aside, target);
}
