/** Which reasons to skip a test are true on this machine; everything else should have run. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** What the excuses ask about a machine. */
export interface Machine {
  readonly isRoot: () => boolean;
  /** A program of that name is in the PATH. */
  readonly hasProgram: (name: string) => boolean;
  readonly exists: (path: string) => boolean;
  readonly canMakeNamespaces: () => boolean;
}

export const thisMachine: Machine = {
  isRoot: () => process.getuid?.() === 0,
  hasProgram: (name) =>
    (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name))),
  exists: existsSync,
  canMakeNamespaces: () => spawnSync('unshare', ['--net', 'true']).status === 0,
};

const excuses: readonly {
  readonly pattern: RegExp;
  /** @param found what the pattern's group has found in the reason */
  readonly holds: (machine: Machine, found: string) => boolean;
}[] = [
  // .ci/run installs it where Go is at hand.
  { pattern: /\bcnitool\b/, holds: (machine) => !machine.hasProgram('go') },
  { pattern: /\bvpp\b/i, holds: (machine) => !machine.hasProgram('vpp') },
  { pattern: /\bshared\//, holds: (machine) => !machine.exists('../shared') },
  { pattern: /\broot\b/, holds: (machine) => !machine.isRoot() },
  { pattern: /\bnetwork namespaces?\b/, holds: (machine) => !machine.canMakeNamespaces() },
  { pattern: /(\/dev\/[\w-]+)/, holds: (machine, device) => !machine.exists(device) },
];

/** Whether something that the reason names is really missing. */
export function isJustified(reason: string, machine: Machine): boolean {
  return excuses.some(({ pattern, holds }) => {
    const match = pattern.exec(reason);
    return match !== null && holds(machine, match[1] ?? '');
  });
}
