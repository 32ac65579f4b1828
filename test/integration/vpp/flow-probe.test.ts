/** Flows of a pod behind a memif of a real VPP, whose sockets no kernel program of the node sees. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Flow, FlowsDocument } from '#documents/flows.ts';
import { policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { both } from '#test/services/compliance/records.ts';
import type { Protocol, Target } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { MemifPod } from '../support/memif-pod.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';
import { Station } from '../support/station.ts';

const PORT = 8080;
const NAME = 'memif-pod';
const networks = {
  4: { address: '198.18.1.2', gateway: '198.18.1.1', length: 24 },
  6: { address: 'fd18::2', gateway: 'fd18::1', length: 64 },
} as const;
const families = [4, 6] as const;
/** VPP tells 7 s after the last packet, and the agent waits for the other direction. */
const TOLD_MS = 40_000;

describe('flows of a memif', {
  skip: withoutNodes() || withoutVhostNet() || withoutSocketHooks(),
  timeout: 600_000,
}, () => {
  let cluster: RealServiceCluster;
  let pod: MemifPod;
  let station: Station;

  before(async () => {
    cluster = await RealServiceCluster.start({ sockets: true, isDual: true });
    for (const name of ['web', 'closed'])
      await cluster.startPod(name, 'node1', [PORT], {
        labels: { app: name },
        label: [{ key: 'app', value: name }],
      });
    await cluster.write({
      resource: resources.policy,
      name: 'no-ingress',
      namespace: 'default',
      value: policyModel.canonical({
        name: 'no-ingress',
        namespace: 'default',
        pods: { match_label: [{ key: 'app', value: 'closed' }] },
        policy_type: 'INGRESS',
      }),
    });
    pod = await MemifPod.create(
      families.map((family) => {
        const { address, gateway, length } = networks[family];
        return { address: `${address}/${length}`, gateway };
      }),
    );
    const value = vppInterfaceModel.canonical({
      name: NAME,
      type: 'MEMIF',
      enabled: true,
      vrf: 1,
      ip_addresses: families.map((one) => `${networks[one].gateway}/${networks[one].length}`),
      memif: { id: 0, master: true, socket_filename: pod.socketFile },
    });
    const key = `/vnf-agent/node1/${vppInterfaceModel.key(value)}`;
    await cluster.realNode('node1').etcd.store.put(key, JSON.stringify(value));
    station = new Station('memif', pod.place);
    for (const address of ['0.0.0.0', '::'] as const) await station.serve(PORT, address);
    await until('its packets arrive', async () => {
      const answers = await Promise.all(families.map((family) => station.connect(web(family), 1)));
      return answers.flat().every(({ result }) => result === 'answered');
    });
  });
  after(async () => {
    await station?.end();
    await pod?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const target = (name: string, family: 4 | 6, protocol: Protocol, port: number): Target => ({
    address: cluster.addressOf({ pod: name }, family),
    port,
    protocol,
  });
  const web = (family: 4 | 6): Target => target('web', family, 'TCP', PORT);

  async function document(): Promise<FlowsDocument> {
    const path = '/contiv/v1/flows?last=10000';
    const { status, body } = await cluster.realNode('node1').agent.get(path);
    assert.equal(status, 200);
    return body as FlowsDocument;
  }
  /** Of the memif: those with this server that are not of a socket. */
  const flowsTo = async ({ address, port, protocol }: Target): Promise<readonly Flow[]> =>
    (await document()).flows.filter(
      ({ seenBy, server, protocol: its }) =>
        seenBy !== undefined &&
        server.address === address &&
        server.port === port &&
        its === protocol,
    );

  for (const family of families)
    for (const protocol of both) {
      it(`IPv${family}, ${protocol}: a connection has one record, with its bytes`, async () => {
        const to = target('web', family, protocol, PORT);
        const begun = Date.now();
        const [answer] = await station.connect(to, 1);
        assert.equal(answer?.result, 'answered');
        const found = async () =>
          (await flowsTo(to)).filter(({ time }) => Date.parse(time) >= begun);
        await until(
          'it is recorded',
          async () => (await found()).some((one) => one.clientBytes > 0 && one.serverBytes > 0),
          TOLD_MS,
        );
        const [flow, ...others] = await found();
        assert.deepEqual(others, []);
        assert.deepEqual(
          [flow?.seenBy, flow?.side, flow?.verdict, flow?.client.address, flow?.server.name],
          ['probe', 'client', 'open', networks[family].address, 'default/web'],
        );
        assert.ok(Math.abs(Date.parse(flow!.time) - begun) < 5_000, flow!.time);
        if (protocol === 'TCP') assert.notEqual(flow?.ended, undefined);
      });

      it(`IPv${family}, ${protocol}: what VPP denies has one record, with the policy`, async () => {
        const to = target('closed', family, protocol, PORT);
        await station.connect(to, 1);
        await until('it is recorded', async () => (await flowsTo(to)).length > 0, TOLD_MS);
        // time for another one
        await cluster.pass(15);
        const [flow, ...others] = await flowsTo(to);
        assert.deepEqual(others, []);
        assert.equal(flow?.verdict, 'denied');
        assert.match(
          flow!.reason,
          /default\/closed is isolated for ingress by default\/no-ingress/,
        );
      });
    }

  for (const family of families) {
    it(`IPv${family}: a port at which no process listens`, async () => {
      const to = target('web', family, 'TCP', 8_099);
      assert.equal((await station.connect(to, 1))[0]?.result, 'refused');
      await until('it is recorded', async () => (await flowsTo(to)).length > 0, TOLD_MS);
      const [flow, ...others] = await flowsTo(to);
      assert.deepEqual(others, []);
      assert.deepEqual([flow?.verdict, flow?.side], ['refused', 'client']);
    });

    it(`IPv${family}: a client that asks the pod`, async () => {
      const { address } = networks[family];
      const to: Target = { address, port: PORT, protocol: 'TCP' };
      const [answer] = await cluster.connect({ pod: 'web' }, to, 1);
      assert.equal(answer?.result, 'answered');
      await until('it is recorded', async () => (await flowsTo(to)).length > 0, TOLD_MS);
      const [flow, ...others] = await flowsTo(to);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [flow?.seenBy, flow?.side, flow?.client.name, flow?.verdict],
        ['probe', 'server', 'default/web', 'open'],
      );
    });
  }

  it('nothing was lost or refused', async () => {
    assert.deepEqual((await document()).state.probe, { interfaces: 1, lost: 0, refused: 0 });
  });

  it('a connection that continues has the same record after the agent was killed', async () => {
    const to = web(4);
    const { id, answer } = (await station.open(to, 1))[0]!;
    assert.equal(answer.result, 'answered');
    const open = async () => (await flowsTo(to)).filter(({ ended }) => ended === undefined);
    // VPP drops a flow without a packet for 6 s
    const talk = setInterval(() => void station.check([id]), 1_000);
    try {
      await until('it is recorded', async () => (await open()).length === 1, TOLD_MS);
      const [before] = await open();
      await cluster.restartAgent('node1', 'SIGKILL');
      await until('it is recorded again', async () => (await open()).length === 1, TOLD_MS);
      const [after] = await open();
      assert.deepEqual([after?.id, after?.time, after?.side], [before?.id, before?.time, 'client']);
    } finally {
      clearInterval(talk);
      await station.close([id]);
    }
  });

  it('VPP that has restarted counts again', async () => {
    const { vpp, agent } = cluster.realNode('node1');
    await vpp.kill();
    await vpp.start();
    await until('the probe is back', async () =>
      /memif/.test(await vpp.cli('show flowprobe feature')),
    );
    const to = target('web', 4, 'TCP', 8_098);
    await until(
      'packets arrive again',
      async () => (await station.connect(to, 1))[0]?.result === 'refused',
      60_000,
    );
    agent.assertRunning();
    await until('it is recorded', async () => (await flowsTo(to)).length > 0, TOLD_MS);
  });
});
