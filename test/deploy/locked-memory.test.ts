/**
 * Services at sockets of an agent with the capabilities of its container, and with the limit of locked memory that
 * processes have by default. Before Linux 5.11 the kernel makes none of the maps below that limit.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { after, afterEach, describe, it } from 'node:test';
import { removeSocketTable } from '#linux/socket-services/open.ts';
import {
  withoutCapability,
  withoutProgram,
  withoutSocketHooks,
} from '#test/support/requirements.ts';
import { MANIFEST } from '../../scripts/lib/deploy/chart.ts';
import { SysFs } from '../integration/support/sys-fs.ts';
import { containerOf, find, objectsOf } from './support/objects.ts';

const DEFAULT_LIMIT = 65_536;

const ADVICE = /EPERM.*before Linux 5\.11 .* CAP_SYS_RESOURCE/;

/** An agent that makes programs and maps, and prints its limit, or the error. */
const OPENER = `
  import { readFileSync } from 'node:fs';
  import { systemClock, systemRandom } from '#infra/clock/system.ts';
  import { silentLogger } from '#infra/log/log.ts';
  import { kernelHost } from '#linux/kernel/host.ts';
  import { openSocketTable } from '#linux/socket-services/open.ts';
  const sockets = { ...kernelHost({ clock: systemClock }), namespaces: async () => [] };
  const deps = { clock: systemClock, random: systemRandom, sockets, log: silentLogger };
  try {
    openSocketTable(process.env.SYS_FS, deps);
    console.log(/^Max locked memory +(\\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))[1]);
  } catch (error) {
    console.log(error.message);
  }
  process.exit();`;

describe('services at sockets with the default limit of locked memory', {
  skip: withoutSocketHooks() || withoutProgram('prlimit', 'setpriv'),
  timeout: 60_000,
}, () => {
  const objects = objectsOf(readFileSync(MANIFEST, 'utf8'));
  const agent = containerOf(find(objects, 'DaemonSet', 'contiv-vswitch'), 'contiv-agent');
  const capabilities = agent.securityContext.capabilities!.add!;
  const machine = new SysFs();
  afterEach(() => removeSocketTable(machine.path));
  after(() => machine[Symbol.dispose]());

  /** The line that the agent prints. */
  function openWith(capabilities: readonly string[]): string {
    const bounding = ['-all', ...capabilities.map((name) => `+${name.toLowerCase()}`)].join(',');
    const command = [
      `--memlock=${DEFAULT_LIMIT}:${DEFAULT_LIMIT}`,
      ...['setpriv', '--no-new-privs', `--bounding-set=${bounding}`],
      ...[process.execPath, '--input-type=module-typescript', '--eval', OPENER],
    ];
    const env = { ...process.env, SYS_FS: machine.path };
    return execFileSync('prlimit', command, { env, encoding: 'utf8' }).trim();
  }

  it('are active with SYS_RESOURCE besides the capabilities of the manifest, which lifts it', {
    skip: withoutCapability('SYS_RESOURCE'),
  }, () => {
    assert.equal(openWith([...capabilities, 'SYS_RESOURCE']), 'unlimited');
  });

  it('are active without SYS_RESOURCE on kernels that count no maps, else the error says what to do', () => {
    const [major = 0, minor = 0] = release().split('.').map(Number);
    const countsMaps = major < 5 || (major === 5 && minor < 11);
    const printed = openWith(capabilities);
    if (countsMaps) assert.match(printed, ADVICE);
    else assert.equal(printed, String(DEFAULT_LIMIT));
  });

  it('are unavailable without the right to load programs, with the same advice: the kernel refuses both alike', () => {
    assert.match(openWith([]), ADVICE);
  });
});
