/** A suite of services on real nodes, once with one thread of VPP and once with two workers. */
import { describe } from 'node:test';
import type { StartServiceCluster } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { RealServiceCluster } from './service-cluster.ts';

export function onRealNodes(suite: (start: StartServiceCluster) => void, workers: number): void {
  const name = `services on VPP with ${workers === 0 ? 'one thread' : `${workers} workers`}`;
  describe(name, { skip: withoutNodes() || withoutVhostNet() }, () =>
    suite((options) => RealServiceCluster.start({ ...options, workers })),
  );
}

/** With services at the sockets of pods and hosts, and for IPv4 with NAT44 at the edge. */
export function onRealNodesWithSockets(
  suite: (start: StartServiceCluster) => void,
  family: 4 | 6 = 4,
): void {
  const skip = withoutNodes() || withoutVhostNet() || withoutSocketHooks();
  describe(`services on VPP and at sockets, IPv${family}`, { skip }, () =>
    suite((options) => RealServiceCluster.start({ ...options, sockets: true, family })),
  );
}
