/**
 * All checks and tests of a change; called by .ci/run, which installs the programs that they need.
 * Each check counts as one test; the last line is the sum.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unprovenFolders } from '../test/cluster/report.ts';
import { partOfCommit } from './lib/part-of-commit.ts';
import type { Skip } from './lib/run-tests.ts';
import { isJustified, thisMachine } from './lib/skip-reasons.ts';
import { type Counts, countsText } from './lib/test-report.ts';
import { changedSince, readSections } from './lib/vpp-report.ts';

/** The long properties have so many parts; the commit decides which one runs. */
const part = partOfCommit(32);

interface Check {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A third of the time of version 6, which stays for its API: scripts/lib and dependency-cruiser use it. */
const TSC = 'node_modules/typescript-7/bin/tsc';

/** All of them run, the longest first, also after a failure, so that one run shows every failure. */
const checks: readonly Check[] = [
  {
    name: `random cases, again with: CV_PART=${part} npm run soak -- random`,
    command: ['node', 'scripts/soak.ts', 'random'],
    env: { CV_PART: part },
  },
  { name: 'types', command: [TSC, '-p', 'tsconfig.json'] },
  { name: 'generated models', command: ['node', 'scripts/gen.ts', '--check'] },
  { name: 'generated messages', command: ['node', 'scripts/gen-binapi.ts', '--check'] },
  { name: 'types of the page', command: [TSC, '-p', 'ui/tsconfig.json'] },
  { name: 'lint and format', command: ['biome', 'ci', '--colors=off', '.'] },
  {
    name: 'import rules',
    command: ['depcruise', '--config', '.dependency-cruiser.cjs', 'src', 'plugins', 'ui'],
  },
  { name: 'language', command: ['node', 'scripts/language.ts'] },
  { name: 'unused code and packages', command: ['knip', '--no-config-hints'] },
];

function run({ command, env }: Check): Promise<{ ok: boolean; output: string }> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    let output = '';
    const add = (chunk: Buffer): void => {
      output += chunk;
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.on('error', (error) => resolve({ ok: false, output: String(error) }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

let passed = 0;
let failed = 0;

function report(name: string, ok: boolean, output: string, startMs = performance.now()): void {
  if (ok) passed++;
  else failed++;
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}  ${seconds} s`);
  if (!ok) console.log(output.replace(/^(?=.)/gm, '      '));
}

/** Runs `npm test` and forwards its output. */
async function runTests(): Promise<(Counts & { skips: Skip[] }) | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'ci-'));
  const file = join(folder, 'tests.json');
  try {
    const child = spawn('npm', ['test', '--', '--json', file], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await new Promise((resolve) => child.on('close', resolve));
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

delete process.env['FORCE_COLOR'];
process.env['NO_COLOR'] = '1';
const waiting = [...checks];
const worker = async (): Promise<void> => {
  for (let check = waiting.shift(); check; check = waiting.shift()) {
    const start = performance.now();
    const { ok, output } = await run(check);
    report(check.name, ok, output, start);
  }
};
await Promise.all([worker(), worker()]);

const tests = await runTests();
if (!tests) report('tests', false, 'npm test ended without a result');
else {
  const unjustified = tests.skips.filter(({ reason }) => !isJustified(reason, thisMachine));
  const lines = unjustified.map(({ path, reason }) => `${path.join(' > ')}: ${reason}`);
  report('no test skipped without a true reason', lines.length === 0, lines.join('\n'));
}

const sections = readSections();
if (sections.size === 0) console.log('unproven on VPP: no report (npm run test:vpp)');
for (const [release, section] of sections) {
  const changed = changedSince(section);
  if (changed.length > 0)
    console.log(`unproven on VPP ${release}: ${changed.join(', ')} (npm run test:vpp)`);
}

const unproven = unprovenFolders();
if (unproven.length > 0)
  console.log(`unproven on Kubernetes: ${unproven.join(', ')} (npm run test:kubernetes)`);

const total: Counts = {
  passed: passed + (tests?.passed ?? 0),
  failed: failed + (tests?.failed ?? 0),
  skipped: tests?.skipped ?? 0,
};
console.log(countsText(total));
process.exitCode = total.failed > 0 ? 1 : 0;
