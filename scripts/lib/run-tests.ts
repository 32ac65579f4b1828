/**
 * Runs test files with node's test runner, each in a process of its own, and counts single tests.
 *
 * A file without tests fails: it would pass for ever. A file that does not end by itself is killed
 * and fails: it leaks a handle. A skipped suite counts as one skipped test, because nobody knows how
 * many it holds.
 */
import { run } from 'node:test';
import { inspect } from 'node:util';

export interface Failure {
  /** Names of the suites and of the test, outermost first. */
  readonly path: readonly string[];
  readonly text: string;
}

export interface Skip {
  readonly path: readonly string[];
  /** What to install or to do; empty when the test does not say. */
  readonly reason: string;
}

export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skips: readonly Skip[];
  /** What the file wrote, both streams in order. */
  readonly output: string;
  readonly ms: number;
}

export interface RunOptions {
  /** Files that run at once. */
  readonly concurrency: number;
  /** A file that takes longer is killed. */
  readonly fileLimitMs: number;
  /** Called at the end of each file. */
  readonly onFile: (result: FileResult) => void;
}

/** Results in the order of the files. */
export async function runTests(
  files: readonly string[],
  options: RunOptions,
): Promise<FileResult[]> {
  const results: FileResult[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < files.length; index = next++) {
      const result = await runFile(files[index]!, options.fileLimitMs);
      results[index] = result;
      options.onFile(result);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return results;
}

type Stream = ReturnType<typeof run>;
type StreamEvent = Stream extends AsyncIterable<infer E> ? E : never;
type ResultEvent = Extract<StreamEvent, { type: 'test:pass' | 'test:fail' }>;

async function runFile(file: string, limitMs: number): Promise<FileResult> {
  const start = performance.now();
  const collector = new Collector(file, limitMs);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), limitMs);
  try {
    const options = { files: [file], signal: abort.signal, execArgv: ['--import', fixedSeed] };
    for await (const event of run(options)) collector.take(event);
  } finally {
    clearTimeout(timer);
  }
  return { ...collector.result(), ms: performance.now() - start };
}

const fixedSeed = import.meta.resolve('./fixed-seed.ts');

/** Diagnostics in which the runner says its totals; the others are worth reading. */
const TOTALS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** Makes the result of one file from the events of its run. */
class Collector {
  readonly #file: string;
  readonly #limitMs: number;
  readonly #parents = new Map<number, { name: string; parent: number }>();
  #passed = 0;
  readonly #failures: Failure[] = [];
  readonly #skips: Skip[] = [];
  #output = '';

  constructor(file: string, limitMs: number) {
    this.#file = file;
    this.#limitMs = limitMs;
  }

  take(event: StreamEvent): void {
    if (event.type === 'test:enqueue' || event.type === 'test:start') {
      const { name, testId, parentId } = identity(event.data);
      this.#parents.set(testId, { name, parent: parentId });
    } else if (event.type === 'test:stdout' || event.type === 'test:stderr')
      this.#output += event.data.message;
    else if (event.type === 'test:diagnostic' && !TOTALS.test(event.data.message))
      this.#output += `${event.data.message}\n`;
    else if (event.type === 'test:pass' || event.type === 'test:fail') this.#end(event);
  }

  result(): Omit<FileResult, 'ms'> {
    return {
      file: this.#file,
      passed: this.#passed,
      failures: this.#failures,
      skips: this.#skips,
      output: this.#output,
    };
  }

  #end(event: ResultEvent): void {
    const { data } = event;
    const isSuite = data.details.type === 'suite';
    const path = this.#path(identity(data));
    // The runner reports a file as a test when there is nothing else to report, or it ended badly.
    const isFile = data.nesting === 0 && data.name.endsWith(this.#file);
    const excuse = data.skip ?? data.todo;
    if (excuse !== undefined && excuse !== false)
      this.#skips.push({ path, reason: typeof excuse === 'string' ? excuse : '' });
    else if (event.type === 'test:fail') {
      const error = data.details.error as Error & { failureType?: string };
      if (isSuite && error.failureType === 'subtestsFailed') return;
      this.#failures.push({ path: isFile ? [] : path, text: this.#failureText(error) });
    } else if (isFile) this.#failures.push({ path: [], text: 'holds no test' });
    else if (!isSuite) this.#passed++;
  }

  #failureText(error: Error & { failureType?: string }): string {
    if (error.failureType === 'testAborted')
      return `did not end within ${this.#limitMs / 1000} s: killed`;
    const { cause } = error;
    if (cause instanceof Error) return ownFrames(cause.stack ?? cause.message);
    const { exitCode } = error as { exitCode?: unknown };
    if (exitCode !== undefined) return `the file's process ended with exit code ${exitCode}`;
    return typeof cause === 'string' ? cause : inspect(cause);
  }

  #path({ name, parentId }: Identity): string[] {
    const path = [name];
    for (let id = parentId; id !== 0; ) {
      const parent = this.#parents.get(id);
      if (!parent) break;
      path.unshift(parent.name);
      id = parent.parent;
    }
    return path;
  }
}

/** A stack without what the runner itself does. */
function ownFrames(stack: string): string {
  return stack.replace(/\n +at (?=.*\bnode:).*/g, '');
}

interface Identity {
  readonly name: string;
  readonly testId: number;
  readonly parentId: number;
}

/** Ids are in the events of Node 24, but not yet in its type definitions. */
function identity(data: { readonly name: string }): Identity {
  const { testId = 0, parentId = 0 } = data as Partial<Identity>;
  return { name: data.name, testId, parentId };
}
