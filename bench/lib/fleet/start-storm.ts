import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { cpuSecondsOf } from '#test/integration/support/process-cpu.ts';
import type { ReadersArgs, ReadersReport } from './messages.ts';

const MAIN = new URL('./readers.ts', import.meta.url);
const PROCESSES = 2;

export interface StartStorm {
  readonly seconds: number;
  /** Reads that were begun again. */
  readonly failures: number;
  readonly etcdSeconds: number;
}

/** So many clients read everything at once. */
export async function startStorm(etcd: EtcdServer, readers: number): Promise<StartStorm> {
  const start = performance.now();
  const cpu = cpuSecondsOf(etcd.pid);
  const count = readers / PROCESSES;
  const reports = await Promise.all(
    Array.from({ length: PROCESSES }, async (_, at) => {
      const args: ReadersArgs = { count, first: at * count, port: etcd.port };
      const child = fork(MAIN, [JSON.stringify(args)]);
      const [report] = (await once(child, 'message')) as [ReadersReport];
      return report;
    }),
  );
  return {
    seconds: (performance.now() - start) / 1_000,
    failures: reports.reduce((sum, one) => sum + one.failures, 0),
    etcdSeconds: cpuSecondsOf(etcd.pid) - cpu,
  };
}
