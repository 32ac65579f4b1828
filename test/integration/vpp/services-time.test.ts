/** Services on real VPP: bytes over whole paths, and affinity that ends. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { IdleSessions } from '#plugins/service/nat-sessions/idle-sessions.ts';
import { NatSessionMetrics } from '#plugins/service/nat-sessions/metrics.ts';
import { statsCollector } from '#test/plugins/fake-ports.ts';
import { answered } from '#test/services/compliance/answers.ts';
import { a, b, c, serviceRecords, x, y } from '#test/services/compliance/records.ts';
import type { Place } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { natSessionPort } from '#vpp/nat-session-port.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const MEGABYTES = 8;

describe('services on VPP', { skip: withoutNodes() || withoutVhostNet(), timeout: 300_000 }, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    cluster = await RealServiceCluster.start();
    for (const pod of ['a', 'b', 'c']) await cluster.startPod(pod, 'node1', [8080]);
    for (const pod of ['x', 'y']) await cluster.startPod(pod, 'node2', [8080]);
    await cluster.serve('outside', 8080);
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  it('carry bytes in both directions, in TCP segments of full size', async () => {
    const ports = (nodePort: number) => [{ port: 80, target: 8080, nodePort }];
    const service = (name: string, last: number, backend: Place) =>
      serviceRecords(cluster, name, {
        service_type: 'NodePort',
        cluster_ip: `10.96.4.${last}`,
        ports: ports(30200 + last),
        backends: [backend],
      });
    await cluster.apply(service('near', 1, b), service('far', 2, x), service('self', 3, a));
    const clusterIp = (last: number) => ({ address: `10.96.4.${last}`, port: 80 });
    const nodePort = (last: number) => ({
      address: cluster.vppAddressOf('node1'),
      port: 30200 + last,
    });
    for (const [from, to, backend] of [
      [a, clusterIp(1), 'b'],
      [a, clusterIp(2), 'x'],
      [a, clusterIp(3), 'a'],
      [{ host: 'node1' }, clusterIp(2), 'x'],
      ['outside', nodePort(1), 'b'],
      ['outside', nodePort(2), 'x'],
      [a, { address: cluster.addressOf('outside'), port: 8080 }, 'outside'],
    ] as const) {
      const answer = await cluster.transfer(from, { ...to, protocol: 'TCP' }, MEGABYTES);
      assert.equal(answered([answer], `${to.address}:${to.port}`)[0]!.backend, backend);
    }
  });

  it('get fragments from outside that are too large for the tunnel to the backend', async () => {
    const service = { service_type: 'NodePort', cluster_ip: '10.96.4.4', backends: [x] } as const;
    const ports = [{ port: 80, target: 8080, nodePort: 30204 }];
    await cluster.apply(serviceRecords(cluster, 'datagrams', { ...service, ports }));
    // in fragments of 1,500 bytes
    for (const bytes of [2_000, 5_000]) {
      const address = cluster.vppAddressOf('node1');
      const to = { address, port: 30204, protocol: 'UDP', bytes } as const;
      const answers = await cluster.connect('outside', to, 3);
      const backends = answered(answers, `${bytes} bytes`).map(({ backend }) => backend);
      assert.deepEqual(backends, ['x', 'x', 'x']);
    }
  });

  it('let a client choose again when its sessions and the affinity have expired', async () => {
    const [address, timeout] = ['10.96.4.10', 3];
    const ports = Array.from({ length: 12 }, (_, n) => ({ port: 81 + n, target: 8080 }));
    await cluster.apply(
      serviceRecords(cluster, 'sticky', {
        cluster_ip: address,
        session_affinity: 'ClientIP',
        session_affinity_timeout: timeout,
        ports,
        backends: [b, c, x, y],
      }),
    );
    const vpp = cluster.vppOf('node1');
    // as after hours, in which VPP removes no session by itself
    await vpp.cli('set nat timeout udp 4 tcp-established 4 tcp-transitory 4 icmp 4');
    const choices = async (): Promise<readonly string[]> => {
      const chosen: string[] = [];
      for (const { port } of ports) {
        const answers = await cluster.connect(a, { address, port, protocol: 'TCP' });
        chosen.push(answered(answers)[0]!.backend);
      }
      return chosen;
    };
    const first = await choices();
    assert.deepEqual(await choices(), first, 'before it expires');
    await vpp.withClient(async (client) => {
      const metrics = new NatSessionMetrics(new Registry(), statsCollector());
      const idle = new IdleSessions({
        port: natSessionPort(client),
        intervalMs: 200,
        metrics,
        clock: systemClock,
        log: silentLogger,
      });
      idle.init();
      await cluster.pass(4 + timeout + 5);
      await idle.close();
    });
    // all twelve choose the same of four backends again in one of 16 million runs
    assert.notDeepEqual(await choices(), first, 'after it expired');
  });
});
