/** Wiring of the REST server. */
import type { Clock } from '../clock/clock.ts';
import type { Loggers } from '../log/loggers.ts';
import type { Component } from '../process/lifecycle.ts';
import type { HttpConfig } from './config.ts';
import type { Route } from './route.ts';
import { type HttpServer, startHttpServer } from './server.ts';

export interface WiredHttpServer {
  /** Port of the endpoint; 0 before the start. */
  readonly port: number;
  readonly component: Component;
}

export function wireHttpServer(
  config: HttpConfig,
  routes: readonly Route[],
  clock: Clock,
  loggers: Loggers,
): WiredHttpServer {
  let server: HttpServer | undefined;
  return {
    get port() {
      return server?.port ?? 0;
    },
    component: {
      name: 'http',
      init: async () => {
        server = await startHttpServer(config, routes, clock, loggers.get('http'));
        if (!config.disabled)
          loggers.get('agent').info({ port: server.port }, 'REST server is listening');
      },
      close: () => server?.close(),
    },
  };
}
