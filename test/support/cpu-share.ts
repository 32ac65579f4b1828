/** A share of one CPU for a process and all it starts: a control group with a quota. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kernel gives the share of each 100 ms at its beginning, as it does for the limits of Kubernetes. */
const PERIOD_US = 100_000;

/** The hierarchy of version 2, or of version 1, that has the controller `cpu`. */
const ROOT = '/sys/fs/cgroup';

let made = 0;

export class CpuShare {
  readonly #folder: string;

  /** @param share of one CPU, 0.05 for 5 % */
  constructor(share: number) {
    const isUnified = existsSync(join(ROOT, 'cgroup.controllers'));
    this.#folder = join(ROOT, isUnified ? '' : 'cpu', `share-${process.pid}-${++made}`);
    mkdirSync(this.#folder);
    const quota = Math.round(share * PERIOD_US);
    if (isUnified) writeFileSync(join(this.#folder, 'cpu.max'), `${quota} ${PERIOD_US}`);
    else {
      writeFileSync(join(this.#folder, 'cpu.cfs_period_us'), String(PERIOD_US));
      writeFileSync(join(this.#folder, 'cpu.cfs_quota_us'), String(quota));
    }
  }

  /** Words before a command which make it run with the share from its first instruction. */
  get wrapper(): readonly string[] {
    return ['sh', '-c', `echo $$ > ${join(this.#folder, 'cgroup.procs')} && exec "$@"`, 'sh'];
  }

  /** Periods in which the processes wanted more than their share, of all periods in which they ran. */
  get throttled(): { readonly periods: number; readonly of: number } {
    const text = readFileSync(join(this.#folder, 'cpu.stat'), 'utf8');
    const count = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
    return { periods: count('nr_throttled'), of: count('nr_periods') };
  }

  /** Its processes must have ended. */
  remove(): void {
    rmdirSync(this.#folder);
  }
}
