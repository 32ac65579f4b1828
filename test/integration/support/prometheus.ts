/** A Prometheus of the test's own, on the loopback address and in a folder that is removed with it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '#test/support/wait.ts';
import { Background } from './background.ts';

const run = promisify(execFile);

/** Two samples make a rate. */
const SCRAPE_INTERVAL = '1s';
const START_LIMIT_MS = 60_000;

export interface PrometheusOptions {
  /** Address and port of the agent. */
  readonly target: string;
  readonly port: number;
  /** Words before each command: `nsenter --net=…`. */
  readonly prefix?: readonly string[];
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export class Prometheus implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  readonly #options: PrometheusOptions;
  readonly #process: Background;

  constructor(options: PrometheusOptions) {
    this.#options = options;
    const { target, port, prefix = [] } = options;
    const jobs = [
      ['contiv-agent', '/metrics'],
      ['contiv-stats', '/stats'],
    ].map(([job_name, metrics_path]) => ({
      job_name,
      metrics_path,
      static_configs: [{ targets: [target] }],
    }));
    const config = { global: { scrape_interval: SCRAPE_INTERVAL }, scrape_configs: jobs };
    const file = join(this.#folder, 'prometheus.yml');
    // JSON is YAML
    writeFileSync(file, JSON.stringify(config));
    this.#process = new Background(
      [
        ...prefix,
        'prometheus',
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(this.#folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { log: join(this.#folder, 'prometheus.log') },
    );
  }

  /** Resolves when both jobs were scraped without an error at least twice. */
  async whenScraped(): Promise<void> {
    const hasScraped = async () => {
      this.#process.assertRunning();
      const samples = await this.query('sum_over_time(up[1m])').catch(() => []);
      return samples.filter(({ value }) => Number(value[1]) >= 2).length === 2;
    };
    await until('Prometheus scrapes the agent', hasScraped, START_LIMIT_MS);
  }

  /** The series that an expression has now. */
  async query(expression: string): Promise<readonly Sample[]> {
    const { prefix = [], port } = this.#options;
    const words = ['promtool', 'query', 'instant', '-o', 'json'];
    const [program = '', ...rest] = [...prefix, ...words, `http://127.0.0.1:${port}`, expression];
    const { stdout } = await run(program, rest, { maxBuffer: 16 << 20 });
    return JSON.parse(stdout) as Sample[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
