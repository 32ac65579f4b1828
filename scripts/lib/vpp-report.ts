/** The report of the last run against a real VPP, and what it says about the tree of today. */
import { resolve } from 'node:path';
import { gitTreeHash } from './git-tree.ts';
import type { FileResult } from './run-tests.ts';
import { countAll, countsText, skipLines } from './test-report.ts';

export const REPORT = 'docs/vpp-report.md';

/** What the run is about: when one of these changes, the last run says nothing any more. */
export const folders = ['src/vpp', 'src/linux', 'src/stn', 'src/simulator'] as const;

/** A suite with traffic and restarts takes minutes. */
export const VPP_FILE_LIMIT_MS = 600_000;

/** Whether a test file is one of those that need a real VPP. */
export function needsVpp(file: string): boolean {
  return file.startsWith('test/integration/vpp/');
}

/** `src/vpp 4cee71…`, one line a folder, as the report holds it. */
export function treeLines(): string[] {
  return folders.map((folder) => `${folder} ${gitTreeHash(folder)}`);
}

/** Folders that have changed since the report was written. */
export function changedSince(report: string): string[] {
  return treeLines()
    .filter((line) => !report.includes(line))
    .map((line) => line.split(' ')[0]!);
}

/** @param trees `treeLines` as they were when the run began */
export function renderReport(
  version: string,
  trees: readonly string[],
  results: readonly FileResult[],
): string {
  const rows = results.map(
    ({ file, passed, failures, skips }) =>
      `| ${file} | ${passed} | ${failures.length} | ${skips.length} |`,
  );
  const failed = results.flatMap(({ file, failures }) =>
    failures.map(({ path }) => `- failed: ${file}: ${path.join(' > ') || 'the whole file'}`),
  );
  // Paths of this machine mean nothing to others.
  const skipped = skipLines(results).map(
    (line) => `- skipped: ${line.replaceAll(resolve('..'), '..')}`,
  );
  const notes = [...failed, ...skipped];
  return `# Last run against a real VPP

Written by \`npm run test:vpp\`; not to be edited. The hashes are git's of the folders that the run
saw (\`git rev-parse HEAD:src/vpp\`). When they are not those of the tree, \`.ci/run\` says
\`unproven on VPP\`.

\`\`\`
VPP ${version}
${trees.join('\n')}
\`\`\`

| file | passed | failed | skipped |
|---|---:|---:|---:|
${rows.join('\n')}
${notes.length > 0 ? `\n${notes.join('\n')}\n` : ''}
${countsText(countAll(results))}
`;
}
