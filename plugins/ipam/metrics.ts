import { Gauge, type Registry } from 'prom-client';
import type { IpamApi } from './api.ts';

/** Metrics of the pod addresses of this node, by family (4 or 6). */
export class IpamMetrics {
  constructor(registry: Registry, ipam: Pick<IpamApi, 'usage'>) {
    const labelNames = ['family'];
    const registers = [registry];
    new Gauge({
      name: 'contiv_ipam_addresses',
      help: 'Pod addresses of this node that are allocated, by family.',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { family, allocated } of ipam.usage()) this.set({ family }, allocated);
      },
    });
    new Gauge({
      name: 'contiv_ipam_capacity',
      help: 'Addresses that this node can give to pods, by family.',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { family, capacity } of ipam.usage()) this.set({ family }, capacity);
      },
    });
  }
}
