import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const LOWEST = 19;

/**
 * Gives the browsers that this process has started the lowest priority: in a cluster they run on other
 * machines than the agent. Processes that they start later have it, too.
 */
export function lowerPriorityOfChildren(parent = process.pid): void {
  for (const pid of childrenOf(parent)) {
    if (!/chrom/.test(textOf(`/proc/${pid}/comm`))) continue;
    // Each thread has a priority of its own.
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), LOWEST);
    lowerPriorityOfChildren(pid);
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(/^PPid:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1]) === parent);
}

/** Empty: the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
