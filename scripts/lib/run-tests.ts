/**
 * Runs test files with the test runner of Node.js, one process per file or group of files, and counts single tests.
 *
 * A file without tests fails, because it could never fail. A file whose process does not end is
 * killed and fails, because it leaks a handle. A skipped suite counts as one skipped test, because
 * its tests are not declared.
 */
import { basename, join } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { endOf } from './file-groups.ts';

/** Processes of test files, and the agents that they start, share what Node.js has compiled. */
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/compiled');

export interface Failure {
  /** Names of the suites and of the test, outermost first. */
  readonly path: readonly string[];
  readonly text: string;
}

export interface Skip {
  readonly path: readonly string[];
  /** `needs X: install Y`; empty when the test gives none. */
  readonly reason: string;
}

export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failures: Failure[];
  readonly skips: readonly Skip[];
  /** Output of the file, both streams in order. */
  readonly output: string;
  readonly ms: number;
}

export interface RunOptions {
  /** Number of processes at the same time. */
  readonly concurrency: number;
  /**
   * A process in which no test ends for longer is killed. A file may take longer: on a busy machine it does.
   */
  readonly testLimitMs: number;
  /** Called at the end of each file. */
  readonly onFile: (result: FileResult) => void;
}

/** @param units files that run in one process */
export async function runTests(
  units: readonly (readonly string[])[],
  options: RunOptions,
): Promise<FileResult[]> {
  process.env['NODE_COMPILE_CACHE'] ??= compileCache;
  const results: FileResult[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < units.length; index = next++)
      for (const result of await runUnit(units[index]!, options.testLimitMs)) {
        results.push(result);
        options.onFile(result);
      }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return results;
}

type Stream = ReturnType<typeof run>;
type StreamEvent = Stream extends AsyncIterable<infer E> ? E : never;
type ResultEvent = Extract<StreamEvent, { type: 'test:pass' | 'test:fail' }>;

async function runUnit(files: readonly string[], limitMs: number): Promise<FileResult[]> {
  const collector = new Collector(files, limitMs);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), limitMs);
  try {
    const entry = files.length === 1 ? { files: [...files] } : { files: [group], argv: [...files] };
    const options = { ...entry, signal: abort.signal, execArgv: ['--import', preload] };
    for await (const event of run(options)) {
      collector.take(event);
      if (event.type === 'test:complete') timer.refresh();
    }
  } finally {
    clearTimeout(timer);
  }
  return collector.results();
}

const group = fileURLToPath(import.meta.resolve('./test-group.ts'));
const preload = import.meta.resolve('./test-preload.ts');

/** Diagnostics with the totals of the runner; the others are shown. */
const TOTALS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** Collects the results of files from the events of the runner. */
class Collector {
  /** The present file is the first. */
  readonly #files: string[];
  readonly #limitMs: number;
  readonly #isGroup: boolean;
  readonly #results: FileResult[] = [];
  #start = performance.now();
  readonly #parents = new Map<number, { name: string; parent: number }>();
  #passed = 0;
  #failures: Failure[] = [];
  #skips: Skip[] = [];
  #output = '';

  constructor(files: readonly string[], limitMs: number) {
    this.#files = [...files];
    this.#isGroup = files.length > 1;
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

  /** All files of a process that ended too early and were not reported before fail. */
  results(): FileResult[] {
    const [first, ...others] = this.#files;
    if (first !== undefined) this.#endFile(first);
    for (const file of others) {
      this.#failures.push({ path: [], text: `not run: the process ended in ${first} or later` });
      this.#endFile(file);
    }
    // The process has not ended well after its last file.
    this.#results.at(-1)?.failures.push(...this.#failures);
    return this.#results;
  }

  #endFile(file: string): void {
    const [passed, failures, skips] = [this.#passed, this.#failures, this.#skips];
    if (passed + failures.length + skips.length === 0)
      failures.push({ path: [], text: 'has no test' });
    const ms = performance.now() - this.#start;
    this.#results.push({ file, passed, failures, skips, output: this.#output, ms });
    this.#start += ms;
    [this.#passed, this.#failures, this.#skips, this.#output] = [0, [], [], ''];
  }

  #end(event: ResultEvent): void {
    const { data } = event;
    const isSuite = data.details.type === 'suite';
    const path = this.#path(identity(data));
    const [file] = this.#files;
    if (this.#isGroup && data.nesting === 0 && file !== undefined && data.name === endOf(file)) {
      if (event.type === 'test:fail')
        this.#failures.push({ path: [], text: this.#failureText(data.details.error as Error) });
      this.#endFile(this.#files.shift()!);
      return;
    }
    // The runner reports a file as a test when it has no test or its process failed.
    const isFile =
      data.nesting === 0 && data.name.endsWith(this.#isGroup ? basename(group) : (file ?? ''));
    const skip = data.skip ?? data.todo;
    if (skip !== undefined && skip !== false)
      this.#skips.push({ path, reason: typeof skip === 'string' ? skip : '' });
    else if (event.type === 'test:fail') {
      const error = data.details.error as Error & { failureType?: string };
      if (isSuite && error.failureType === 'subtestsFailed') return;
      this.#failures.push({ path: isFile ? [] : path, text: this.#failureText(error) });
    } else if (isFile) this.#failures.push({ path: [], text: 'has no test' });
    else if (!isSuite) this.#passed++;
  }

  #failureText(error: Error & { failureType?: string }): string {
    if (error.failureType === 'testAborted')
      return `no test ended within ${this.#limitMs / 1000} s: killed`;
    const { cause } = error;
    if (cause instanceof Error) return ownFrames(cause.stack ?? cause.message);
    const { exitCode } = error as { exitCode?: unknown };
    if (exitCode !== undefined) return `the process of the file ended with exit code ${exitCode}`;
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

/** The stack without the frames of the runner. */
function ownFrames(stack: string): string {
  return stack.replace(/\n +at (?=.*\bnode:).*/g, '');
}

interface Identity {
  readonly name: string;
  readonly testId: number;
  readonly parentId: number;
}

/** The events of Node.js 24 have IDs, which are not yet in its type definitions. */
function identity(data: { readonly name: string }): Identity {
  const { testId = 0, parentId = 0 } = data as Partial<Identity>;
  return { name: data.name, testId, parentId };
}
