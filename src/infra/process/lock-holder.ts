import { readFileSync, statSync } from 'node:fs';

/** The process that has a lock on the file, if the kernel tells: not one of another PID namespace. */
export function lockHolder(path: string): number | undefined {
  try {
    const { ino } = statSync(path);
    const [, pid] = new RegExp(`WRITE (\\d+) \\S+:${ino} `).exec(
      readFileSync('/proc/locks', 'utf8'),
    ) ?? [undefined, '0'];
    return Number(pid) || undefined;
  } catch {
    // Other systems have no such list, or the file was deleted.
    return undefined;
  }
}
