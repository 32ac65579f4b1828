/** Controllers of Kubernetes: by default those that make endpoints and delete the content of namespaces. */
import { findKubeProgram } from '#test/support/requirements.ts';
import { Background } from './background.ts';

const CONTROLLERS = ['endpoints-controller', 'endpointslice-controller', 'namespace-controller'];

export class KubeControllers implements AsyncDisposable {
  readonly #process: Background;

  constructor(kubeconfig: string, log: string, controllers: readonly string[] = CONTROLLERS) {
    this.#process = new Background(
      [
        findKubeProgram('kube-controller-manager')!,
        `--kubeconfig=${kubeconfig}`,
        `--controllers=${controllers.join(',')}`,
        '--leader-elect=false',
        // It serves only probes and metrics, which a test does not need.
        '--secure-port=0',
      ],
      { log },
    );
  }

  assertRunning(): void {
    this.#process.assertRunning();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end('SIGKILL');
  }
}
