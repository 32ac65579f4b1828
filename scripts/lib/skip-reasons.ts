/** Compares the reasons of skipped tests (`needs X: install Y`) with the machine. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { clusterSettingsFile } from '../../test/cluster/folder.ts';
import { type Capability, hasCapability } from '../../test/support/capabilities.ts';
import { hasSocketHooks } from '../../test/support/socket-hooks.ts';

export interface Machine {
  readonly isRoot: () => boolean;
  /** Whether a program of that name is in the PATH. */
  readonly hasProgram: (name: string) => boolean;
  readonly exists: (path: string) => boolean;
  readonly canCreateNamespaces: () => boolean;
  readonly canScheduleRealTime: () => boolean;
  readonly hasSocketHooks: () => boolean;
  readonly hasCapability: (name: Capability) => boolean;
}

export const thisMachine: Machine = {
  isRoot: () => process.getuid?.() === 0,
  hasProgram: (name) =>
    (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name))),
  exists: existsSync,
  canCreateNamespaces: () => spawnSync('unshare', ['--net', 'true']).status === 0,
  canScheduleRealTime: () => spawnSync('chrt', ['--fifo', '10', 'true']).status === 0,
  hasSocketHooks,
  hasCapability,
};

/** Only what `.ci/run` cannot install; all the rest must not be missing there. */
const rules: readonly {
  readonly pattern: RegExp;
  /** @param name what the group of the pattern matched */
  readonly isMissing: (machine: Machine, name: string) => boolean;
}[] = [
  {
    pattern:
      /^needs (vpp|vppctl|go|kube-apiserver|kube-proxy|kubectl|helm|kubeconform|kube-score) in the PATH:/,
    isMissing: (machine, name) => !machine.hasProgram(name),
  },
  // .ci/run installs it where Go is installed.
  {
    pattern: /^needs cnitool in the PATH:/,
    isMissing: (machine) => !machine.hasProgram('go'),
  },
  {
    pattern: /^needs the original's contiv-ksr:/,
    isMissing: () => process.env['ORIGINAL_KSR'] === undefined,
  },
  { pattern: /^needs (\.cache\/kafka):/, isMissing: (machine, path) => !machine.exists(path) },
  {
    pattern: /^needs java in the PATH:/,
    isMissing: (machine) => !machine.hasProgram('java'),
  },
  // Root file systems that scripts/image-bases.ts makes.
  {
    pattern: /^needs (\/\S+\/contiv-vswitch\/images\/\w+):/,
    isMissing: (machine, path) => !machine.exists(path),
  },
  // Programs and images that `npm run test:kubernetes` makes in half an hour.
  {
    pattern: /^needs (\/\S+\/cluster\/images):/,
    isMissing: (machine, path) => !machine.exists(`${path}/agnhost.tar`),
  },
  {
    pattern: /^needs (\/\S+\/cluster\/programs\/\S+):/,
    isMissing: (machine, path) => !machine.exists(path),
  },
  {
    pattern: /^needs a machine without a cluster:/,
    isMissing: (machine) => machine.exists(clusterSettingsFile),
  },
  // From the folder of the repository.
  { pattern: /^needs (\.\.\/shared)\//, isMissing: (machine, path) => !machine.exists(path) },
  { pattern: /^needs root\b/, isMissing: (machine) => !machine.isRoot() },
  {
    pattern: /^needs network namespaces:/,
    isMissing: (machine) => !machine.canCreateNamespaces(),
  },
  {
    pattern: /^needs BPF at control groups:/,
    isMissing: (machine) => !machine.hasSocketHooks(),
  },
  {
    pattern: /^needs the capability (SYS_RESOURCE):/,
    isMissing: (machine, name) => !machine.hasCapability(name as Capability),
  },
  {
    pattern: /^needs real-time scheduling:/,
    isMissing: (machine) => !machine.canScheduleRealTime(),
  },
  {
    pattern: /^needs IPv6\b/,
    isMissing: (machine) => !machine.exists('/proc/net/if_inet6'),
  },
  { pattern: /^needs (\/dev\/[\w-]+):/, isMissing: (machine, path) => !machine.exists(path) },
];

/** Whether the machine really lacks what the reason names. */
export function isJustified(reason: string, machine: Machine): boolean {
  return rules.some(({ pattern, isMissing }) => {
    const match = pattern.exec(reason);
    return match !== null && isMissing(machine, match[1] ?? '');
  });
}
