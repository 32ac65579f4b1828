import { Gauge, type Registry } from 'prom-client';
import { SocketTableMetrics } from '#linux/socket-services/metrics.ts';
import type { Environment } from './environment.ts';

/** Without services at sockets in the configuration there are no metrics: the node has not fallen back. */
export function registerSocketServicesMetrics(
  registry: Registry,
  { socketTable, socketFault }: Pick<Environment, 'socketTable' | 'socketFault'>,
): void {
  if (!socketTable && socketFault === undefined) return;
  new Gauge({
    name: 'contiv_socket_services_active',
    help: 'Whether the kernel translates services at sockets (1), or it does not (0), because its programs were removed, or because it cannot: then VPP has all services of IPv4, and nothing those of IPv6; absent where socketServices is not configured.',
    registers: [registry],
    collect() {
      this.set(Number(socketTable?.lostParts().length === 0));
    },
  });
  if (socketTable) new SocketTableMetrics(registry, socketTable);
}
