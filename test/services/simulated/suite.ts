/** A suite of services on the simulator. */
import { describe } from 'node:test';
import type { StartServiceCluster } from '../service-cluster.ts';
import { SimulatedServiceCluster } from './service-cluster.ts';

export function onSimulator(suite: (start: StartServiceCluster) => void): void {
  describe('services on the simulator', () =>
    suite((options) => SimulatedServiceCluster.start(options)));
}

/** With services at the sockets of pods and hosts. */
export function onSimulatorWithSockets(
  suite: (start: StartServiceCluster) => void,
  family: 4 | 6,
): void {
  describe(`services on the simulator and at sockets, IPv${family}`, () =>
    suite((options) => SimulatedServiceCluster.start({ ...options, sockets: true, family })));
}
