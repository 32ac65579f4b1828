import { Gauge, type Registry } from 'prom-client';
import { SocketTableMetrics } from '#linux/socket-services/metrics.ts';
import type { Environment } from './environment.ts';

/** Without services at sockets in the configuration there are no metrics: the node has not fallen back. */
export function registerSocketServicesMetrics(
  registry: Registry,
  { socketTable, socketFault }: Pick<Environment, 'socketTable' | 'socketFault'>,
): void {
  const isActive = socketTable !== undefined;
  if (!isActive && socketFault === undefined) return;
  new Gauge({
    name: 'contiv_socket_services_active',
    help: 'Whether the kernel translates services at sockets (1), or VPP has all services of IPv4, and nothing those of IPv6, because it cannot (0); absent where socketServices is not configured.',
    registers: [registry],
  }).set(Number(isActive));
  if (socketTable) new SocketTableMetrics(registry, socketTable);
}
