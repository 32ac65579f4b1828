import { Gauge, type Registry } from 'prom-client';
import type { ServiceApi } from '../api.ts';

/** Metrics of a node whose kernel translates services at sockets. */
export class SocketServiceMetrics {
  constructor(registry: Registry, services: Pick<ServiceApi, 'socketServices'>) {
    const registers = [registry];
    new Gauge({
      name: 'contiv_socket_services',
      help: 'Services that the kernel translates at sockets; absent where it translates none.',
      registers,
      collect() {
        this.set(services.socketServices().services);
      },
    });
    new Gauge({
      name: 'contiv_socket_exempt_pods',
      help: 'Pods whose sockets are left alone, so that VPP translates their packets; GET /contiv/v1/pods names them.',
      registers,
      collect() {
        this.set(services.socketServices().exemptPods);
      },
    });
  }
}
