/** The reflector of the original, Contiv/VPP's contiv-ksr, for comparisons. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOriginalKsr } from '#test/support/requirements.ts';
import { Background } from './background.ts';
import { freePort } from './free-port.ts';

export class OriginalKsr implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'original-ksr-'));
  readonly #process: Background;

  /** @param etcd clients' port, `<address>:<port>` */
  static async start(etcd: string, kubeconfig: string): Promise<OriginalKsr> {
    return new OriginalKsr(etcd, kubeconfig, await freePort());
  }

  private constructor(etcd: string, kubeconfig: string, port: number) {
    const files = {
      etcd: { endpoints: [etcd], 'insecure-transport': true, 'dial-timeout': 1_000_000_000 },
      http: { endpoint: `127.0.0.1:${port}` },
    };
    // JSON is YAML
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(this.#folder, `${name}.conf`), JSON.stringify(content));
    this.#process = new Background(
      [findOriginalKsr()!, `--config-dir=${this.#folder}`, `--kube-config=${kubeconfig}`],
      { log: join(this.#folder, 'ksr.log'), cwd: this.#folder },
    );
  }

  assertRunning(): void {
    this.#process.assertRunning();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
