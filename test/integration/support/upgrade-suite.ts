/**
 * Agent and VPP of a node are replaced under traffic: counted are the packets that are lost, and the longest
 * time without one. The agent that replaces another one is of another build; the VPP is the same program.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceRecords, y } from '#test/services/compliance/records.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { buildProgram } from '../../../scripts/lib/bundles.ts';
import { Churn } from './churn.ts';
import { type Containers, ContivInit } from './contiv-init.ts';
import type { RealNode } from './node.ts';
import { withoutDrawnMacs } from './normalized-vpp-state.ts';
import { RealServiceCluster, type RunningFlow } from './service-cluster.ts';
import { ping, Stream, type StreamResult } from './traffic.ts';

const SERVICE = '10.96.9.1';
/** TCP repeats a message after pauses that double: after 10 s without VPP, at most 14 s later. */
const TCP_LIMIT_MS = 30_000;
/** On a busy machine a VPP that gets no core for 300 ms loses packets, also when nothing is replaced. */
const ATTEMPTS = 3;
const root = resolve(import.meta.dirname, '../../..');
const skip = withoutNodes() || withoutVhostNet();

let folder: string;
/** The program of an agent that was built in another folder. */
let otherBuild: string;

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), 'upgrade-'));
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  otherBuild = join(await buildProgram('agent', folder), 'main.js');
});
after(() => {
  if (!skip) rmSync(folder, { recursive: true, force: true });
});

export function upgradeSuite(containers: Containers): void {
  describe(`the vswitch in ${containers}`, { skip, timeout: 600_000 }, () => {
    let cluster: RealServiceCluster;
    let node: RealNode;
    let init: ContivInit;

    before(async () => {
      cluster = await RealServiceCluster.start();
      await cluster.startPod('a', 'node1', []);
      await cluster.startPod('b', 'node1', [8080]);
      for (const pod of ['x', 'y']) await cluster.startPod(pod, 'node2', [8080]);
      const ports = [
        { port: 80, target: 8080 },
        { port: 5002, target: 5002 },
      ];
      await cluster.apply(
        serviceRecords(cluster, 'far', { cluster_ip: SERVICE, ports, backends: [y] }),
      );
      node = cluster.realNode('node1');
      await node.agent.end('SIGTERM');
      await node.vpp.kill();
      init = new ContivInit(node, mkdtempSync(join(folder, 'init-')), containers);
      await init.start();
      await until('the pods are connected again', isConnected, 60_000);
    });
    after(async () => {
      await init?.end('SIGTERM');
      await cluster?.[Symbol.asyncDispose]();
    });

    function isConnected(): Promise<boolean> {
      return ping(cluster.sandboxOf('a'), cluster.addressOf({ pod: 'x' })).then(
        () => true,
        () => false,
      );
    }

    interface Measured {
      /** Datagrams from pod to pod, and through the service, to the other node. */
      readonly streams: readonly StreamResult[];
      /** TCP connections from pod to pod and through the service that carry messages again. */
      readonly kept: readonly boolean[];
    }

    /** Replaces something under traffic that leaves the node. Prints what was lost. */
    async function underTraffic(t: TestContext, replace: () => Promise<void>): Promise<Measured> {
      const a = cluster.sandboxOf('a');
      const direct = { ...endpoint('x'), address: cluster.addressOf({ pod: 'x' }) };
      const service = { ...endpoint('y'), address: SERVICE };
      const flows: RunningFlow[] = [];
      for (const [address, port] of [
        [direct.address, 8080],
        [SERVICE, 80],
      ] as const)
        flows.push(await cluster.openFlow({ pod: 'a' }, { address, port, protocol: 'TCP' }));
      const streams = [await Stream.start(a, direct), await Stream.start(a, service)];
      try {
        await sleep(1000);
        await replace();
        await until('the pods are connected', isConnected, 60_000);
        const connectedAt = Date.now();
        await sleep(3000);
        const results = await Promise.all(streams.map((stream) => stream.stop()));
        const kept = await Promise.all(flows.map((flow) => carriesMessages(flow, connectedAt)));
        t.diagnostic(`load of the machine ${loadavg()[0]!.toFixed(1)}`);
        for (const [at, path] of ['pod to pod', 'pod to service'].entries()) {
          const { sent, received, longestGapMs } = results[at]!;
          t.diagnostic(
            `${path}: ${sent - received} of ${sent} datagrams lost, longest gap ${longestGapMs} ms; TCP connection ${kept[at]!.text}`,
          );
        }
        return { streams: results, kept: kept.map(({ isKept }) => isKept) };
      } finally {
        for (const stream of streams) await stream.kill();
      }
    }

    /** Waits until a message returns that was sent after the pods are connected. */
    async function carriesMessages(flow: RunningFlow, connectedAt: number) {
      let gapMs = 0;
      const returned = async (): Promise<boolean> => {
        const { lastReturnedAt, longestGapMs } = await flow.report();
        gapMs = Math.max(gapMs, longestGapMs);
        return lastReturnedAt > connectedAt + 1000;
      };
      try {
        await until('a message returns', returned, TCP_LIMIT_MS);
      } catch {
        return { isKept: false, text: `broken: nothing returned for ${TCP_LIMIT_MS / 1000} s` };
      }
      return { isKept: true, text: `kept, longest gap ${gapMs} ms` };
    }

    function endpoint(pod: string) {
      const sandbox = cluster.sandboxOf(pod);
      return {
        path: sandbox.path,
        run: (...command: readonly string[]) => sandbox.run(...command),
      };
    }

    /** The replacement loses nothing: in one of some attempts nothing is lost. */
    async function assertNothingLost(t: TestContext, replace: () => Promise<void>): Promise<void> {
      for (let attempt = 1; ; attempt++) {
        const { streams, kept } = await underTraffic(t, replace);
        assert.deepEqual(kept, [true, true]);
        const isLost = streams.some((one) => one.received + one.droppedAtSocket !== one.sent);
        if (!isLost) return;
        assert.ok(attempt < ATTEMPTS, `packets were lost in each of ${ATTEMPTS} attempts`);
      }
    }

    /** VPP translates no TCP packet without a session, unless it opens the connection. */
    async function assertOnlyServiceBroken({ kept }: Measured): Promise<void> {
      assert.deepEqual(kept, [true, false]);
      const errors = await node.vpp.cli('show errors');
      assert.match(errors, /non-SYN packet/);
    }

    /** New connections reach the pod and the service. */
    async function serves(): Promise<void> {
      for (const [address, port, backend] of [
        [cluster.addressOf({ pod: 'x' }), 8080, 'x'],
        [SERVICE, 80, 'y'],
        [cluster.addressOf({ pod: 'b' }), 8080, 'b'],
      ] as const) {
        const [answer] = await cluster.connect({ pod: 'a' }, { address, port, protocol: 'TCP' });
        assert.equal(answer!.result === 'answered' && answer!.backend, backend);
      }
    }

    it('is measured for 10 s while nothing is replaced', async (t) => {
      const { kept } = await underTraffic(t, () => sleep(10_000));
      assert.deepEqual(kept, [true, true]);
    });

    for (const signal of ['SIGTERM', 'SIGKILL'] as const)
      it(`loses no packet when the agent is replaced by another build after ${signal}`, async (t) => {
        const vpp = init.pid('vpp');
        const state = await node.configuration();
        await assertNothingLost(t, async () => {
          init.replaceAgent(otherBuild);
          await init.restartAgent(signal);
        });
        assert.equal(init.pid('vpp'), vpp);
        assert.deepEqual(await node.configuration(), state);
        await serves();
      });

    for (const signal of ['SIGTERM', 'SIGKILL'] as const)
      it(`recovers by itself when contiv-init is replaced after ${signal}`, async (t) => {
        const state = await node.configuration();
        const measured = await underTraffic(t, async () => {
          const started = performance.now();
          await init.end(signal);
          t.diagnostic(`contiv-init ended within ${Math.round(performance.now() - started)} ms`);
          await init.start();
          t.diagnostic(`ready after ${Math.round(performance.now() - started)} ms`);
        });
        await assertOnlyServiceBroken(measured);
        await serves();
        assert.deepEqual(withoutDrawnMacs(await node.configuration()), withoutDrawnMacs(state));
      });

    it('recovers by itself after VPP crashed', async (t) => {
      const state = await node.configuration();
      const measured = await underTraffic(t, async () => {
        const vpp = init.pid('vpp')!;
        let started = performance.now();
        const ms = () => Math.round(performance.now() - started);
        const other = connect(node.vpp.apiSocket);
        other.on('error', () => undefined);
        other.on('close', () => t.diagnostic(`the kernel closed VPP's socket after ${ms()} ms`));
        await once(other, 'connect');
        started = performance.now();
        process.kill(vpp, 'SIGKILL');
        const isNotReady = async () =>
          (await node.agent.get('/readiness').catch(() => undefined))?.status !== 200;
        await until('readiness is not 200', isNotReady);
        t.diagnostic(`readiness is not 200 after ${ms()} ms`);
        await until('VPP has ended', () => !existsSync(`/proc/${vpp}`));
        t.diagnostic(`VPP has ended after ${ms()} ms`);
        await init.whenEnded();
        t.diagnostic(`contiv-init has ended after ${ms()} ms`);
        // as kubelet does
        await init.start();
        t.diagnostic(`ready after ${ms()} ms`);
      });
      await assertOnlyServiceBroken(measured);
      await serves();
      assert.deepEqual(withoutDrawnMacs(await node.configuration()), withoutDrawnMacs(state));
    });

    it('has the state of Kubernetes after pods and services changed while all was replaced', async () => {
      const churn = new Churn(cluster, node);
      const running = churn.run();
      await init.restartAgent('SIGKILL');
      await init.end('SIGTERM');
      await init.start();
      churn.stop();
      await running;
      await serves();
      await churn.assertState(['a', 'b']);
    });
  });
}
