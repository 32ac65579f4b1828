/** The thread that talks to the kernel dies at each step of the wiring of a pod. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { setEnvironmentData } from 'node:worker_threads';
import { systemClock } from '#infra/clock/system.ts';
import type { LinuxHost } from '#linux/api.ts';
import { hasErrno, ignoreErrno } from '#linux/descriptors/ignored-errors.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { withoutKernel } from '#test/support/requirements.ts';
import { kernelBackend } from '../support/linux-kernel.ts';

const countdown = new Int32Array(new SharedArrayBuffer(8));
setEnvironmentData('countdown', countdown as never);
const thread = new URL('../../linux/kernel/threads/mortal.ts', import.meta.url);

const gateway = { address: '10.1.1.1', mac: '02:fe:00:00:00:09', device: 'eth0' };
const link = { device: 'eth0', metric: 0 };

/** Changes in the order of a pod, in batches as the scheduler makes them. */
function steps(host: LinuxHost, node: string, pod: string): readonly (() => Promise<unknown>[])[] {
  const end = { namespace: node, name: 'veth1' };
  return [
    () => [host.createVeth({ namespace: node, name: 'made' }, { namespace: node, name: 'other' })],
    () => [host.moveLink({ namespace: node, name: 'made' }, { namespace: pod, name: 'eth0' })],
    () => [host.moveLink({ namespace: node, name: 'other' }, end)],
    () => [
      host.setLink(node, 'veth1', { up: true, alias: 'node' }),
      host.setLink(pod, 'eth0', { up: true, mtu: 1450, alias: 'pod' }),
      host.setChecksumOffload(pod, 'eth0', { tx: false }),
    ],
    () => [
      host.addAddress(pod, 'eth0', '10.1.1.2/32'),
      host.setNeighbor(pod, gateway),
      host.addRoute(pod, { ...link, destination: '10.1.1.1/32', scope: 'link' }),
      host.addRoute(pod, {
        ...link,
        destination: '0.0.0.0/0',
        gateway: '10.1.1.1',
        scope: 'global',
      }),
    ],
  ];
}

/** Repeats each step until it succeeds, as a retry does. @returns the number of unknown outcomes */
async function wire(host: LinuxHost, node: string, pod: string): Promise<number> {
  let unknown = 0;
  for (const step of steps(host, node, pod))
    for (let isDone = false; !isDone; ) {
      const outcomes = await Promise.allSettled(step().map((call) => ignoreErrno('EEXIST', call)));
      const failures = outcomes.flatMap((each) => (each.status === 'rejected' ? each.reason : []));
      for (const failure of failures) {
        // the link was moved by the attempt whose outcome is unknown
        if (hasErrno(failure, ['ENODEV']) && unknown > 0) continue;
        assert.ok(hasErrno(failure, ['ETIMEDOUT']), String(failure));
        assert.match(String(failure), /the thread was ended; the outcome is unknown/);
      }
      isDone = !failures.some((failure) => hasErrno(failure, ['ETIMEDOUT']));
      if (!isDone) unknown++;
    }
  return unknown;
}

function openSockets(): number {
  return readdirSync('/proc/self/fd').filter((file) => {
    try {
      return /^(socket|net):/.test(readlinkSync(`/proc/self/fd/${file}`));
    } catch {
      return false;
    }
  }).length;
}

describe('a thread that dies', { skip: withoutKernel() }, () => {
  test('at any step of a pod loses nothing, and keeps no namespace', async () => {
    const backend = await kernelBackend();
    after(() => backend.close());
    const host = kernelHost({ clock: systemClock, thread });
    const run = async () => {
      const [node, pod] = [await backend.makeNamespace(), await backend.makeNamespace()];
      const unknown = await wire(host, node, pod);
      const states = [await backend.host.dump(node), await backend.host.dump(pod)];
      for (const path of [node, pod]) await backend.removeNamespace(path);
      return { unknown, states: states.map((each) => JSON.stringify(each, withoutRandom)) };
    };
    countdown.set([0, 0]);
    const undisturbed = await run();
    const changes = -countdown[0]!;
    assert.equal(undisturbed.unknown, 0);
    assert.equal(changes, 10);
    const before = openSockets();
    for (const when of [0, 1])
      for (let step = 1; step <= changes; step++) {
        countdown.set([step, when]);
        const { unknown, states } = await run();
        assert.equal(unknown, 1, `at change ${step}`);
        assert.deepEqual(states, undisturbed.states, `at change ${step}`);
      }
    assert.ok(openSockets() <= before, 'sockets of ended threads are closed');
  });
});

/** Indexes depend on the attempts, MACs are random. */
function withoutRandom(key: string, value: unknown): unknown {
  return ['index', 'peerIndex', 'mac', 'metric'].includes(key) ? undefined : value;
}
