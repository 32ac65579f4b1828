/** Wiring of the health checks of services, which load balancers ask for on node ports. */
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { ServiceApi } from './api.ts';
import { HealthCheckServers } from './health-check/health-check-servers.ts';
import { httpHealthCheckPort } from './health-check/http-health-check-port.ts';
import { kubeProxyOnHost } from './health-check/kube-proxy.ts';
import type { ServiceName } from './rendered-service.ts';

export interface HealthCheckWiringDeps {
  readonly services: Pick<ServiceApi, 'watchHealthChecks' | 'rendererName'>;
  /** Whether VPP is connected, and a resync has configured it since. */
  readonly isSynced: () => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
}

export interface HealthCheckStates {
  /** Services whose port cannot be opened at present. */
  readonly failures: () => ReadonlyMap<ServiceName, CodedError>;
  readonly areLeftToKubeProxy: () => boolean;
}

export function wireHealthChecks(
  deps: HealthCheckWiringDeps,
): HealthCheckStates & { readonly component: Component } {
  const { services, isSynced, clock, random, loggers } = deps;
  const servers = new HealthCheckServers({
    port: httpHealthCheckPort(clock),
    kubeProxy: kubeProxyOnHost(clock),
    isProxyHealthy: () => isSynced() && services.rendererName() !== undefined,
    clock,
    random,
    log: loggers.get('service'),
  });
  return {
    failures: () => servers.failures(),
    areLeftToKubeProxy: () => servers.isLeftToKubeProxy,
    component: {
      name: 'health checks of services',
      init: () => services.watchHealthChecks((checks) => servers.replace(checks)),
      close: () => servers.close(),
    },
  };
}
