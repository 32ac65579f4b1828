/** kubectl as the administrator of the cluster, from outside its nodes. */
import { spawnSync } from 'node:child_process';
import { programPath } from './go-programs.ts';
import { kubeconfig } from './kubeconfig.ts';
import { enterNetns, OUTSIDE } from './network.ts';

/** @throws Error with what it printed when it fails */
export function kubectl(...args: readonly string[]): string {
  return run(args, undefined);
}

/** `kubectl apply` of objects. */
export function apply(...objects: readonly unknown[]): void {
  // Documents of JSON are documents of YAML.
  run(['apply', '-f', '-'], objects.map((object) => `---\n${JSON.stringify(object)}\n`).join(''));
}

/** The object as the API server has it. */
export function getObject<T>(...args: readonly string[]): T {
  return JSON.parse(kubectl('get', ...args, '-o', 'json'));
}

export const kubectlCommand = (): string[] => [
  ...enterNetns(OUTSIDE),
  programPath('kubectl'),
  `--kubeconfig=${kubeconfig()}`,
];

function run(args: readonly string[], input: string | undefined): string {
  const [program, ...rest] = kubectlCommand();
  const { status, stdout, stderr } = spawnSync(program!, [...rest, ...args], {
    encoding: 'utf8',
    input,
    maxBuffer: 256 << 20,
  });
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}
