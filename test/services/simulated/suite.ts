/** A suite of services on the simulator. */
import { describe } from 'node:test';
import type { StartServiceCluster } from '../service-cluster.ts';
import { SimulatedServiceCluster } from './service-cluster.ts';

export function onSimulator(suite: (start: StartServiceCluster) => void): void {
  describe('services on the simulator', () =>
    suite((options) => SimulatedServiceCluster.start(options)));
}
