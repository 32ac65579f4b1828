import { runTests } from './run-tests.ts';
import { countAll, countsText, fileText } from './test-report.ts';

const FILE_LIMIT_MS = 1_800_000;

/** Runs test files as a long run of soak/. @throws when a test failed */
export async function runSuites(
  files: readonly string[],
  concurrency: number,
  print: (line: string) => void,
): Promise<void> {
  const results = await runTests(
    files.map((file) => [file]),
    {
      concurrency,
      testLimitMs: FILE_LIMIT_MS,
      onFile: (result) => print(fileText(result).trimEnd()),
    },
  );
  const counts = countAll(results);
  print(countsText(counts));
  if (counts.failed > 0) throw new Error(`${counts.failed} tests failed`);
}
