/** Port: whether kube-proxy runs on this node. It serves the health checks of services on the same ports. */
import { get } from 'node:http';
import type { Clock } from '#infra/clock/clock.ts';

export interface KubeProxy {
  /** Whether it answers on its own health port. */
  isRunning(): Promise<boolean>;
}

/** Default of kube-proxy's `--healthz-bind-address`. */
const HEALTH_PORT = 10_256;
const LIMIT_MS = 1_000;

export function kubeProxyOnHost(clock: Clock, port = HEALTH_PORT): KubeProxy {
  return {
    isRunning: () =>
      new Promise((resolve) => {
        const request = get(
          { host: '127.0.0.1', port, path: '/healthz', agent: false },
          (reply) => {
            reply.resume();
            // 503 while it cannot synchronize, and while its node is being deleted
            resolve(reply.statusCode === 200 || reply.statusCode === 503);
          },
        );
        const limit = clock.timer(LIMIT_MS, () => request.destroy());
        request.once('error', () => undefined);
        request.once('close', () => {
          limit.cancel();
          resolve(false);
        });
      }),
  };
}
