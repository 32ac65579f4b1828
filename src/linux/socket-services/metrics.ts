import { Counter, type Registry } from 'prom-client';
import type { SocketTable } from './api.ts';

/** Metrics of the kernel's table of services. */
export class SocketTableMetrics {
  constructor(registry: Registry, table: Pick<SocketTable, 'statistics'>) {
    const registers = [registry];
    new Counter({
      name: 'contiv_socket_end_failures_total',
      help: 'Failed attempts to end a connected UDP socket whose backend was removed, or to read the sockets of a namespace (CV_SOCKET_NOT_ENDED); they are repeated.',
      registers,
      collect() {
        this.reset();
        this.inc(table.statistics().failedEnds);
      },
    });
  }
}
