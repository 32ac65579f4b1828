import { Gauge, type Registry } from 'prom-client';
import type { PodManager } from './plugin.ts';

/** Metrics of the attachments of this node. */
export class PodManagerMetrics {
  constructor(registry: Registry, pods: Pick<PodManager, 'attachments' | 'problems'>) {
    const registers = [registry];
    new Gauge({
      name: 'contiv_attachments_adopted',
      help: 'Attachments that were recovered from VPP and Linux because their record was lost.',
      registers,
      collect() {
        const all = [...pods.attachments().values()];
        this.set(all.filter(({ adopted }) => adopted !== undefined).length);
      },
    });
    new Gauge({
      name: 'contiv_pods_not_recovered',
      help: 'Pods whose records were lost and that have to be recreated; any value above 0 is an error.',
      registers,
      collect() {
        this.set(pods.problems().length);
      },
    });
  }
}
