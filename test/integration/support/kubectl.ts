import { spawnSync } from 'node:child_process';
import { findKubeProgram } from '#test/support/requirements.ts';

export interface KubectlOptions {
  /** Written to its standard input. */
  readonly input?: string | undefined;
  /** Words before the command, for example to enter a network namespace. */
  readonly enter?: readonly string[];
}

/** Runs kubectl. @throws with what it printed when it fails */
export function kubectl(args: readonly string[], options: KubectlOptions = {}): string {
  const command = [...(options.enter ?? []), findKubeProgram('kubectl')!, ...args];
  const { status, stdout, stderr } = spawnSync(command[0]!, command.slice(1), {
    encoding: 'utf8',
    input: options.input,
    maxBuffer: 256 << 20,
  });
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}
