/** Wiring of the health checks of services, which load balancers ask for on node ports. */
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { HealthCheckServers, type HealthCheckSink } from './health-check/health-check-servers.ts';
import { httpHealthCheckPort } from './health-check/http-health-check-port.ts';

export interface HealthCheckWiringDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
}

export function wireHealthChecks({ clock, random, loggers }: HealthCheckWiringDeps): {
  readonly healthChecks: HealthCheckSink;
  readonly component: Component;
} {
  const log = loggers.get('service');
  const servers = new HealthCheckServers({ port: httpHealthCheckPort(clock), clock, random, log });
  return {
    healthChecks: servers,
    component: { name: 'health checks of services', close: () => servers.close() },
  };
}
