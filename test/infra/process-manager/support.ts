import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { readStat } from '#infra/process-manager/proc-file.ts';
import { ProcessManager } from '#infra/process-manager/process-manager.ts';
import { until } from '#test/support/wait.ts';

/** A manager on virtual time, with real processes; it ends with the test. */
export function makeManager(t: TestContext, templatePath?: string) {
  const clock = new ManualClock();
  const logged: { level: string; message: string; fields: Record<string, unknown> }[] = [];
  const note =
    (level: string) =>
    (fields: Record<string, unknown>, message: string): void =>
      void logged.push({ level, message, fields });
  const manager = new ProcessManager({
    clock,
    random: seededRandom(1),
    log: {
      ...silentLogger,
      info: note('info'),
      warn: note('warn'),
      error: note('error'),
    } as typeof silentLogger,
    ...(templatePath !== undefined && { templatePath }),
  });
  t.after(async () => {
    const closed = manager.close();
    // Those that ignore SIGTERM are killed at the limit.
    let isClosed = false;
    void closed.then(() => {
      isClosed = true;
    });
    await until('the manager is closed', async () => {
      await clock.advance(1000);
      return isClosed;
    });
  });
  return { manager, clock, logged };
}

/** A folder that is removed after the test. */
export function testFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'processes-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Whether a process runs; one that its parent has not released yet does not. */
export function exists(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.state !== 'zombie';
}
