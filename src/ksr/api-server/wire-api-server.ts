import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ApiServer } from './api.ts';
import { ApiClient } from './api-client.ts';
import { Credentials } from './credentials.ts';
import { HttpTransport } from './http-transport.ts';
import { ApiKindWatch } from './kind-watch.ts';
import { patchStatus } from './status-patch.ts';

/** How long a credential plugin may take at the start. */
const CREDENTIALS_MS = 60_000;

export interface ApiServerOptions {
  /** A kubeconfig file; by default that of kubeadm, or the service account of the pod. */
  readonly kubeConfig: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Does not connect yet: an API server that is unavailable is no error.
 * @throws KubeConfigError; ApiCredentialsError
 */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { clock, random, log } = options;
  const credentials = new Credentials(options.kubeConfig);
  const limit = new AbortController();
  const timer = clock.timer(CREDENTIALS_MS, () => limit.abort());
  try {
    await credentials.address(limit.signal);
  } finally {
    timer.cancel();
  }
  const client = new ApiClient(new HttpTransport(credentials), clock);
  return {
    watch: (kind, handlers) => new ApiKindWatch({ client, clock, random, log, kind, handlers }),
    patchStatus: (path, status, signal) => patchStatus(client, path, status, signal),
  };
}
