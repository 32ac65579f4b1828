import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const TIMEOUT_MS = 10_000;

/** The line by which a program of VPP names its version, such as `vpp v26.06-release built by …`; empty: unknown. */
export async function vppVersion(program: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: TIMEOUT_MS });
    return stdout;
  } catch {
    return '';
  }
}

/** Whether cnat has the settings of `generatedStartup`: VPP does not start with a setting that it does not know. */
export function hasCnatSettings(version: string): boolean {
  const [, year, month] = /^vpp v(\d{2})\.(\d{2})/.exec(version) ?? [];
  return year !== undefined && Number(`${year}${month}`) >= 2606;
}
