/**
 * The report of the runs against real VPPs, one section a release, and whether it still holds for
 * the tree of today.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gitTreeHash } from './git-tree.ts';
import type { FileResult } from './run-tests.ts';
import { countAll, countsText, skipLines } from './test-report.ts';

export const REPORT = 'docs/vpp-report.md';

/** A run is valid for as long as none of these changes. */
export const folders = ['src/vpp', 'src/linux', 'src/stn', 'src/simulator'] as const;

/** A suite with traffic and restarts takes minutes. */
export const VPP_FILE_LIMIT_MS = 600_000;

const VPP_FOLDER = 'test/integration/vpp/';

/** Whether a test file is one of those that need a real VPP. */
export function needsVpp(file: string): boolean {
  return file.startsWith(VPP_FOLDER);
}

/** On VPP, but without agents, traffic and measured times: other files may run beside them. */
const quietFiles = [
  'binapi',
  'deleted-interfaces',
  'descriptors',
  'dhcp-descriptors',
  'differential',
  'differential-interfaces',
  'differential-services',
  'differential-taps',
  'memif',
  'orphans',
  'ownership',
  'service-values',
  'transitions',
].map((name) => `${VPP_FOLDER}${name}.test.ts`);

/** Of the files with agents and traffic, those that `npm test` has time for. */
const trafficFiles = ['pods', 'services-cluster-ip', 'two-nodes'].map(
  (name) => `${VPP_FOLDER}${name}.test.ts`,
);

/** Whether the result of a test file depends on the load of the machine. */
export function runsAlone(file: string): boolean {
  return needsVpp(file) && !quietFiles.includes(file);
}

/** Whether only `npm run test:vpp` runs a file: all of them together take half an hour. */
export function runsOnlyInTestVpp(file: string): boolean {
  return runsAlone(file) && !trafficFiles.includes(file);
}

/** `src/vpp 4cee71…`, one line a folder, as in the report. */
export function treeLines(): string[] {
  return folders.map((folder) => `${folder} ${gitTreeHash(folder)}`);
}

/** Sections of the report by release (`v26.06-release`); empty when there is no report. */
export function readSections(): ReadonlyMap<string, string> {
  return existsSync(REPORT) ? sectionsOf(readFileSync(REPORT, 'utf8')) : new Map();
}

export function sectionsOf(report: string): ReadonlyMap<string, string> {
  const sections = report.split(/^(?=## VPP )/m).slice(1);
  return new Map(
    sections.map((text) => [/^## VPP (.*)$/m.exec(text)?.[1] ?? '', `${text.trimEnd()}\n`]),
  );
}

/** Folders that have changed since the run of a section. */
export function changedSince(section: string): string[] {
  return treeLines()
    .filter((line) => !section.includes(line))
    .map((line) => line.split(' ')[0]!);
}

/**
 * @param trees `treeLines` at the start of the run
 * @param tapDevice how VPP could create TAPs, a sentence
 */
export function renderSection(
  release: string,
  trees: readonly string[],
  results: readonly FileResult[],
  tapDevice: string,
): string {
  const rows = results.map(
    ({ file, passed, failures, skips }) =>
      `| ${file} | ${passed} | ${failures.length} | ${skips.length} |`,
  );
  const failed = results.flatMap(({ file, failures }) =>
    failures.map(({ path }) => `- failed: ${file}: ${path.join(' > ') || 'the whole file'}`),
  );
  // Paths of this machine have no meaning elsewhere.
  const skipped = skipLines(results).map(
    (line) => `- skipped: ${line.replaceAll(resolve('..'), '..')}`,
  );
  const notes = [...failed, ...skipped];
  return `## VPP ${release}

\`\`\`
${trees.join('\n')}
\`\`\`

| file | passed | failed | skipped |
|---|---:|---:|---:|
${rows.join('\n')}
${notes.length > 0 ? `\n${notes.join('\n')}\n` : ''}
${tapDevice}

${countsText(countAll(results))}
`;
}

export function renderReport(sections: ReadonlyMap<string, string>): string {
  const releases = [...sections.keys()].sort().reverse();
  return `# Last runs against a real VPP

Written by \`npm run test:vpp\`; do not edit. Each release that was tried has a section with the
hashes of the folders at that run (\`git rev-parse HEAD:src/vpp\`). For each release whose hashes
differ from those of the tree, \`.ci/run\` prints \`unproven on VPP\`.

${releases.map((release) => sections.get(release)).join('\n')}`;
}
