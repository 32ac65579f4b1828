/** After any events of nodes and pods, in any order, a resync has nothing to do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  addPod,
  cniRequest,
  reflectPod,
  replyAddress,
  type TestPod,
  unreflectPod,
} from './harness.ts';
import { forgetNode, nodeWithNics, Scenario, tellOfNode } from './scenario.ts';

const podOf = (pod: number, container: number): TestPod => ({
  name: `p${pod}`,
  containerId: `${pod}${container}`.repeat(32),
  netns: `/run/netns/p${pod}c${container}`,
});

const pod = fc.nat(2);
const container = fc.nat(1);
const node = fc.integer({ min: 2, max: 4 });

const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), pod, container }),
  fc.record({ kind: fc.constant('del' as const), pod, container }),
  fc.record({ kind: fc.constant('show' as const), pod, container }),
  fc.record({ kind: fc.constant('hide' as const), pod, container }),
  fc.record({
    kind: fc.constant('node' as const),
    node,
    // few, so that they conflict; one is the ID of the node itself
    vpp: fc.constantFrom('192.168.16.1/24', '192.168.16.2/24', '192.168.16.3/24'),
    address: fc.constantFrom('172.16.0.6', '172.16.0.7', '192.168.16.2'),
  }),
  fc.record({ kind: fc.constant('left' as const), node }),
  fc.record({
    kind: fc.constant('own' as const),
    address: fc.constantFrom('172.16.0.5', '172.16.0.9'),
  }),
);

const modes = [
  {},
  { useTAPInterfaces: false },
  { nodeToNodeTransport: 'nooverlay' as const },
] as const;

describe('any order of node and pod events', { timeout: 240_000 }, () => {
  it('leaves nothing for a resync to do, and no orphans', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...modes),
        fc.array(step, { maxLength: 25 }),
        async (contiv, steps) => {
          const machine = await nodeWithNics();
          await using scenario = await Scenario.start({ contiv }, machine);
          const { running } = scenario;
          const empty = machine.vpp.snapshot();
          const attached = new Map<string, TestPod>();
          const addresses = new Map<string, string>();
          const nodes = new Set<number>();
          let own = '172.16.0.5';
          for (const one of steps) {
            if (one.kind === 'add') {
              const which = podOf(one.pod, one.container);
              // when the runtime retries a call, the namespace exists already
              if (!attached.has(which.containerId)) machine.linux.addNamespace(which.netns);
              const reply = attached.has(which.containerId)
                ? await running.client.add(cniRequest(which))
                : await addPod(running, which);
              assert.equal(reply.error, '');
              // a pod has one sandbox: the previous one is deleted
              for (const [id, known] of attached)
                if (known.name === which.name && id !== which.containerId) attached.delete(id);
              attached.set(which.containerId, which);
              addresses.set(which.name, replyAddress(reply));
            } else if (one.kind === 'del') {
              const which = podOf(one.pod, one.container);
              assert.equal((await running.client.delete(cniRequest(which))).error, '');
              attached.delete(which.containerId);
            } else if (one.kind === 'show') {
              const which = podOf(one.pod, one.container);
              const address = addresses.get(which.name);
              if (address && attached.has(which.containerId))
                await reflectPod(machine, which, address);
            } else if (one.kind === 'hide')
              await unreflectPod(machine, podOf(one.pod, one.container));
            else if (one.kind === 'node') {
              const { address, vpp, node: id } = one;
              await tellOfNode(machine, `other-${id}`, { address, vpp, id });
              nodes.add(id);
            } else if (one.kind === 'left') {
              await forgetNode(machine, `other-${one.node}`, one.node);
              nodes.delete(one.node);
            } else if (one.address !== own) {
              await machine.linux.deleteAddress(undefined, 'eth0', `${own}/24`);
              own = one.address;
              await machine.linux.addAddress(undefined, 'eth0', `${own}/24`);
              await tellOfNode(machine, 'node1', { address: own });
            }
          }
          await scenario.caughtUp();
          await scenario.assertSettled();

          for (const which of attached.values())
            assert.equal((await running.client.delete(cniRequest(which))).error, '');
          for (const id of nodes) await forgetNode(machine, `other-${id}`, id);
          if (own !== '172.16.0.5') {
            await machine.linux.deleteAddress(undefined, 'eth0', `${own}/24`);
            await machine.linux.addAddress(undefined, 'eth0', '172.16.0.5/24');
            await tellOfNode(machine, 'node1', { address: '172.16.0.5' });
          }
          await scenario.caughtUp();
          await scenario.assertSettled();
          assert.deepEqual(machine.vpp.snapshot(), empty);
        },
      ),
      { numRuns: Number(process.env['ORDER_RUNS'] ?? 25) },
    );
  });
});
