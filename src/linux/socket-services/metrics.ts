import { Counter, Gauge, type Registry } from 'prom-client';
import type { SocketTable } from './api.ts';

/** Metrics of the kernel's table of services. */
export class SocketTableMetrics {
  constructor(registry: Registry, table: Pick<SocketTable, 'statistics'>) {
    const registers = [registry];
    new Gauge({
      name: 'contiv_socket_map_entries',
      help: 'Entries of each map of services at sockets, as the agent knows them; of connections, as it has read them after backends were removed, or after a resync.',
      labelNames: ['map'],
      registers,
      collect() {
        for (const { name, entries } of table.statistics().maps) this.set({ map: name }, entries);
      },
    });
    new Gauge({
      name: 'contiv_socket_map_capacity',
      help: 'Entries that fit into each map of services at sockets.',
      labelNames: ['map'],
      registers,
      collect() {
        for (const { name, capacity } of table.statistics().maps) this.set({ map: name }, capacity);
      },
    });
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
