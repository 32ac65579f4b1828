/** Start time, memory and size of contiv-cni, and of an empty program that is built like it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { agentWith } from '#test/cmd/cni/stand-in-agent.ts';
import { buildContivCni, compile } from '../../scripts/lib/contiv-cni.ts';

export interface ExecutableCost {
  readonly bytes: number;
  /** From start to end, of each run. */
  readonly ms: readonly number[];
  readonly cpuMs: readonly number[];
  /** The largest of all runs. */
  readonly peakKb: number;
}

const run = promisify(execFile);

/**
 * One call of each in every round. The agent of contiv-cni is the server of this process with a service that
 * answers at once.
 */
export async function measureExecutable(
  rounds: number,
): Promise<{ readonly empty: ExecutableCost; readonly cni: ExecutableCost }> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-executable-'));
  try {
    const [empty, cni] = ['empty', 'contiv-cni'].map((one) => join(folder, one));
    writeFileSync(`${empty}.c`, 'int main(void) {\n  return 0;\n}\n');
    compile([`${empty}.c`], empty!);
    const launch = buildLauncher(folder);
    buildContivCni(cni!);
    await using agent = await agentWith({});
    const input = join(folder, 'input.json');
    writeFileSync(input, cniConfig(folder, agent.socket));
    const env = cniVariables('x', 'c1');
    const { stdout } = await run(launch, [String(rounds), input, empty!, cni!], { env });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number));
    const failed = lines.find(([, , , , status]) => status !== 0);
    if (failed) throw new Error(`a program has failed: ${failed}`);
    const costOf = (program: number, file: string): ExecutableCost => {
      const own = lines.filter(([number]) => number === program);
      return {
        bytes: statSync(file).size,
        ms: own.map(([, ms]) => ms!),
        cpuMs: own.map(([, , cpuMs]) => cpuMs!),
        peakKb: Math.max(...own.map(([, , , kb]) => kb!)),
      };
    };
    return { empty: costOf(0, empty!), cni: costOf(1, cni!) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Node.js itself takes 2 ms to start a process. @returns the program `launch.c` */
export function buildLauncher(folder: string): string {
  const launcher = join(folder, 'launch');
  compile([join(import.meta.dirname, '../reference/bare/launch.c')], launcher);
  return launcher;
}

/** Environment of an ADD. */
export function cniVariables(pod: string, container: string): Record<string, string> {
  return {
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: container,
    CNI_IFNAME: 'eth0',
    CNI_NETNS: `/run/netns/${pod}`,
    CNI_ARGS: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`,
  };
}

/** @param folder of the log file */
export function cniConfig(folder: string, grpcServer: string): string {
  const logFile = join(folder, 'cni.log');
  return JSON.stringify({ cniVersion: '1.0.0', name: 'k8s', grpcServer, logFile });
}
