/**
 * The configuration of a node by ipv4net, through the scheduler, on a real VPP and the kernel: two pods
 * connected by veth pairs, VRFs, and forwarded packets.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionMode } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { FaultyHost } from '#test/descriptors/compliance/faulty-host.ts';
import { vppState } from '#test/descriptors/compliance/vpp-state.ts';
import { base, type Values, vethPod } from '#test/descriptors/node-values.ts';
import { withoutIsolatedVpp, withoutKernel } from '#test/support/requirements.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { type IsolatedVpp, startIsolatedVpp } from '../support/vpp-process.ts';

const run = promisify(execFile);

describe('a node on VPP and the kernel', { skip: withoutIsolatedVpp() || withoutKernel() }, () => {
  let vpp: IsolatedVpp;
  const names = [1, 2].map((number) => `cvpod${process.pid}-${number}`);
  const pods = names.map((name) => `/run/netns/${name}`) as [string, string];
  let scheduler: Scheduler;

  const newScheduler = (): Scheduler => {
    const linux = new FaultyHost(kernelHost({ clock: systemClock }), vpp.namespace).host;
    return createScheduler({
      descriptors: [
        ...vppDescriptors({ client: vpp.client, clock: systemClock, log: silentLogger }),
        ...linuxDescriptors({ host: linux, label: 'node1', log: silentLogger }),
      ],
      clock: systemClock,
      log: silentLogger,
    });
  };

  /** @returns operations as `CREATE key`, all successful */
  const commit = async (
    mode: TransactionMode,
    values: ReadonlyMap<string, object | null>,
  ): Promise<string[]> => {
    const { seqNum, failures } = await scheduler.commit({
      description: mode,
      mode,
      values,
      onFailure: 'best-effort',
    });
    assert.deepEqual(
      failures.map(({ key, error }) => `${key}: ${error.message}`),
      [],
    );
    const pending = [...values.keys()].filter(
      (key) => scheduler.status(key).value.state === 'PENDING',
    );
    assert.deepEqual(pending, []);
    const record = scheduler.record(seqNum);
    assert.deepEqual(record?.RetrieveErrors ?? [], []);
    return (record?.Executed ?? [])
      .filter((each) => each.IsProperty !== true && each.NOOP !== true)
      .map((each) => `${each.Operation} ${each.Key}`);
  };

  const ping = (from: string, to: string): Promise<unknown> =>
    run('nsenter', [`--net=${from}`, 'ping', '-c', '2', '-i', '0.2', '-W', '2', to]);

  before(async () => {
    for (const name of names) execFileSync('ip', ['netns', 'add', name]);
    vpp = await startIsolatedVpp();
    scheduler = newScheduler();
  });
  after(async () => {
    await scheduler?.close();
    await vpp?.stop();
    for (const name of names) execFileSync('ip', ['netns', 'del', name]);
  });

  let empty: unknown;

  test('two pods are connected and reach the gateway and each other', async () => {
    empty = await vppState(vpp.client);
    await commit('full-resync', base());
    await commit('update', vethPod(1, pods[0]));
    await commit('update', vethPod(2, pods[1]));
    await ping(pods[0], '10.1.1.1');
    await ping(pods[0], '10.1.1.3');
    // From the pod VRF to the main VRF.
    await ping(pods[1], '192.168.16.1');
  });

  const everything = (): Values =>
    new Map([...base(), ...vethPod(1, pods[0]), ...vethPod(2, pods[1])]);

  test('a second resync has no operations, in this agent and in the next one', async () => {
    assert.deepEqual(await commit('full-resync', everything()), []);
    assert.deepEqual(await commit('downstream-resync', new Map()), []);
    await scheduler.close();
    scheduler = newScheduler();
    assert.deepEqual(await commit('full-resync', everything()), []);
    await ping(pods[0], '10.1.1.3');
  });

  test('deleted state is restored', async () => {
    const inside = (...args: string[]) => execFileSync('nsenter', [`--net=${pods[0]}`, ...args]);
    inside('ip', 'route', 'del', 'default');
    inside('ip', 'neigh', 'flush', 'nud', 'permanent', 'dev', 'eth0');
    inside('ip', 'link', 'set', 'eth0', 'mtu', '1400');
    const done = await commit('downstream-resync', new Map());
    assert.deepEqual(done.sort(), [
      'CREATE config/linux/l3/v2/arp/veth1-1/10.1.1.1',
      'CREATE config/linux/l3/v2/route/0.0.0.0/0/veth1-1',
      'UPDATE config/linux/interfaces/v2/interface/veth1-1',
    ]);
    await ping(pods[0], '10.1.1.3');
  });

  test('a pod without a namespace is deleted without a failure, the other one stays', async () => {
    execFileSync('ip', ['netns', 'del', names[0] as string]);
    execFileSync('ip', ['netns', 'add', names[0] as string]);
    const gone = [...vethPod(1, pods[0]).keys()].map((key) => [key, null] as const);
    await commit('update', new Map(gone));
    await ping(pods[1], '10.1.1.1');
  });

  test('another pod reuses the address of the first', async () => {
    await commit('update', vethPod(1, pods[0]));
    await ping(pods[0], '10.1.1.3');
  });

  test('an agent without desired state removes everything', async () => {
    await scheduler.close();
    scheduler = newScheduler();
    await commit('full-resync', new Map());
    const linux = kernelHost({ clock: systemClock });
    assert.deepEqual(await vppState(vpp.client), empty);
    const { links } = await linux.dump(vpp.namespace);
    assert.deepEqual(
      links.map(({ name }) => name),
      ['lo'],
    );
    const inPod = await linux.dump(pods[0]);
    assert.deepEqual(
      inPod.links.map(({ name }) => name),
      ['lo'],
    );
  });
});
