import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StoreUnavailableError } from '#datastore/api.ts';
import { AbortEventError, FatalError } from '#plugins/controller/api/errors.ts';
import { podLinkNames } from '#plugins/ipv4net/names.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { addressOf, TestNode } from '../test-node.ts';

const PREFIX = 'local/podmanager/attachment/';
const web = { namespace: 'default', name: 'web' };

async function started(): Promise<TestNode> {
  const node = new TestNode();
  await node.resync();
  return node;
}

async function kept(node: TestNode): Promise<string[]> {
  return (await node.localStore.list(PREFIX)).entries.map(({ key }) => key.slice(PREFIX.length));
}

const known = (node: TestNode) => [...node.pods.attachments().keys()];

/** A write to a store whose disk is full. */
function full(): never {
  throw new StoreUnavailableError('full');
}

describe('attachments', () => {
  it('are found again by the next run of the agent, in their order', async () => {
    const node = await started();
    await node.add('web', 'c2');
    await node.add('db', 'c3');
    await node.add('web', 'c1', 'net1');
    const next = node.restart();
    assert.deepEqual(known(next), []);
    await next.resync();
    assert.deepEqual(known(next), ['c2/eth0', 'c3/eth0', 'c1/net1']);
    assert.deepEqual(
      next.pods.attachmentsOf(web).map(({ containerId }) => containerId),
      ['c2', 'c1'],
    );
    assert.deepEqual(next.pods.attachments().get('c2/eth0')!.namespaceIdentity, {
      device: 4,
      inode: 1,
    });
    await next.add('web', 'c9');
    const last = next.restart();
    await last.resync();
    assert.equal(known(last).at(-1), 'c9/eth0');
  });

  it('do not outlive a boot of the machine', async () => {
    const node = await started();
    await node.add('web', 'c1');
    node.host.boot = 'boot-2';
    const next = node.restart();
    await next.resync();
    assert.deepEqual(known(next), []);
    assert.deepEqual(await kept(next), []);
  });

  it('are kept before anything is wired', async () => {
    const node = await started();
    let keptAtCommit: string[] = [];
    node.rejects = () => false;
    const commit = kept(node);
    await commit;
    node.local.afterWrite = async ({ keys }) => {
      if (keys[0]!.startsWith('local/ipam')) keptAtCommit = await kept(node);
    };
    await node.add('web', 'c1');
    assert.deepEqual(keptAtCommit, ['c1/eth0']);
  });

  it('are removed if the pod could not be added', async () => {
    const node = await started();
    node.rejects = () => true;
    assert.ok((await node.add('web', 'c1')).error);
    assert.deepEqual(known(node), []);
    assert.deepEqual(node.pods.attachmentsOf(web), []);
    assert.deepEqual(await kept(node), []);
  });

  it('stay when a repeated Add Pod fails', async () => {
    const node = await started();
    const address = addressOf(await node.add('web', 'c1'));
    const before = [...node.config.keys()];
    node.rejects = () => true;
    assert.ok((await node.add('web', 'c1')).error);
    assert.deepEqual(known(node), ['c1/eth0']);
    assert.deepEqual(node.ipam.podAddresses('c1/eth0'), [address]);
    assert.equal(node.net.podInterfaces('c1/eth0')!.vpp, 'vpp-tap-c1');
    node.rejects = () => false;
    await node.heal();
    assert.deepEqual([...node.config.keys()].sort(), before.sort());
  });

  it('are not written again by a repeated Add Pod', async () => {
    const node = await started();
    await node.add('web', 'c1');
    await node.add('web', 'c2');
    const points = node.local.crashPoints;
    await node.add('web', 'c1');
    assert.equal(node.local.crashPoints, points);
    assert.deepEqual(known(node), ['c1/eth0', 'c2/eth0']);
  });

  it('go back to what they were when one with another namespace fails', async () => {
    const node = await started();
    await node.add('web', 'c1');
    node.host.namespaces.set('/run/netns/c1', 77);
    node.rejects = () => true;
    assert.ok((await node.add('web', 'c1')).error);
    assert.equal(node.pods.attachments().get('c1/eth0')!.namespaceIdentity!.inode, 1);
    const next = node.restart();
    await next.resync();
    assert.equal(next.pods.attachments().get('c1/eth0')!.namespaceIdentity!.inode, 1);
  });

  it('are deleted one by one: a late DEL of an older container leaves the newer alone', async () => {
    const node = await started();
    await node.add('web', 'old');
    const address = addressOf(await node.add('web', 'new'));
    const { error } = await node.del('web', 'old');
    assert.equal(error, undefined);
    assert.equal((await node.del('web', 'old')).error, undefined);
    assert.deepEqual(known(node), ['new/eth0']);
    assert.deepEqual(await kept(node), ['new/eth0']);
    assert.deepEqual(node.ipam.podAddresses('new/eth0'), [address]);
    assert.ok(node.config.has('config/vpp/v2/interfaces/vpp-tap-new'));
    assert.ok(!node.config.has('config/vpp/v2/interfaces/vpp-tap-old'));
  });

  it('that are unknown are deleted without an error, also from the store', async () => {
    const node = await started();
    await node.localStore.put(`${PREFIX}ghost/eth0`, '{}');
    assert.equal((await node.del('web', 'ghost')).error, undefined);
    assert.deepEqual(await kept(node), []);
  });

  it('whose namespace does not exist any more stay until DEL without errors', async () => {
    const node = await started();
    await node.add('web', 'c1');
    node.host.namespaces.clear();
    assert.equal((await node.heal()).error, undefined);
    const next = node.restart();
    assert.equal((await next.resync()).error, undefined);
    assert.deepEqual(known(next), ['c1/eth0']);
    assert.equal(next.pods.isDisplaced('c1/eth0'), false);
    assert.equal((await next.del('web', 'c1')).error, undefined);
    assert.deepEqual(known(next), []);
  });

  it('whose path leads elsewhere by now are not configured there', async () => {
    const node = await started();
    await node.add('web', 'c1');
    node.host.namespaces.set('/run/netns/c1', 99);
    const next = node.restart();
    await next.resync();
    assert.equal(next.pods.isDisplaced('c1/eth0'), true);
    assert.deepEqual(
      [...next.config.keys()].filter((key) => key.includes('c1')),
      [],
    );
    assert.equal(next.net.podInterfaces('c1/eth0'), undefined);
    assert.equal((await next.del('web', 'c1')).error, undefined);
    assert.equal(next.pods.isDisplaced('c1/eth0'), false);
  });

  it('are not thought gone because the store does not answer', async () => {
    const node = await started();
    await node.add('web', 'c1');
    const next = node.restart();
    next.local.disconnect();
    assert.ok((await next.resync()).error instanceof FatalError);
  });

  it('that cannot be read back are dropped, the others are not', async () => {
    const node = await started();
    await node.add('web', 'c1');
    await node.localStore.put(`${PREFIX}bad/eth0`, '{"containerId":"bad"}');
    await node.localStore.put(`${PREFIX}worse/eth0`, 'no json');
    const next = node.restart();
    await next.resync();
    assert.deepEqual(known(next), ['c1/eth0']);
    assert.deepEqual(await kept(next), ['c1/eth0']);
  });

  it('stay connected when the store cannot move an invalid record of another one', async () => {
    const node = await started();
    await node.add('web', 'c1');
    await node.localStore.put(`${PREFIX}bad/eth0`, 'no json');
    const next = node.restart();
    next.local.beforeWrite = full;
    const { error } = await next.resync();
    assert.equal(error, undefined);
    assert.deepEqual(next.config, node.config);
    next.local.beforeWrite = undefined;
    const last = next.restart();
    await last.resync();
    assert.deepEqual(await kept(last), ['c1/eth0']);
  });

  it('without a record are not disconnected when the store cannot write one', async () => {
    const node = await started();
    await node.add('web', 'c1');
    const tap = podLinkNames({ containerId: 'c1', interfaceName: 'eth0' }, true).vpp;
    const one = { swIfIndex: 5, internalName: 'tap5', deviceType: 'virtio', mtu: 1500 };
    node.vpp.nics = [{ ...one, tag: tap }];
    const next = node.restart({ local: new MemoryStore() });
    next.local.beforeWrite = ({ keys }) => {
      if (keys.some((key) => key.startsWith(PREFIX))) full();
    };
    const { error } = await next.resync();
    assert.ok(error instanceof AbortEventError, 'nothing is committed');
    assert.match(error.message, /the resync of podmanager failed: full/);
    next.local.beforeWrite = undefined;
    assert.equal((await next.heal()).error, undefined);
    assert.deepEqual(known(next), ['c1/eth0']);
    assert.deepEqual(await kept(next), ['c1/eth0']);
  });

  it('fail to be added, not half, when the store fails', async () => {
    const node = await started();
    node.local.beforeWrite = () => {
      throw new StoreUnavailableError('full');
    };
    assert.ok((await node.add('web', 'c1')).error instanceof StoreUnavailableError);
    node.local.beforeWrite = undefined;
    assert.deepEqual(known(node), []);
    assert.deepEqual(await kept(node), []);
    addressOf(await node.add('web', 'c1'));
  });

  it('are recorded again by an ADD after a DEL that failed when it had written', async () => {
    for (const healed of [false, true]) {
      const node = await started();
      addressOf(await node.add('web', 'c1'));
      node.local.afterWrite = () => {
        throw new StoreUnavailableError('lost');
      };
      assert.ok((await node.del('web', 'c1')).error);
      node.local.afterWrite = undefined;
      if (healed) {
        await node.heal();
        assert.deepEqual(await kept(node), ['c1/eth0']);
      }
      const address = addressOf(await node.add('web', 'c1'));
      assert.deepEqual(await kept(node), ['c1/eth0']);
      const next = node.restart();
      await next.resync();
      assert.deepEqual(known(next), ['c1/eth0']);
      assert.deepEqual(next.ipam.podAddresses('c1/eth0'), [address]);
    }
  });

  it('do not come back after an ADD that failed when it had written', async () => {
    const node = await started();
    node.local.afterWrite = () => {
      node.local.beforeWrite = () => {
        throw new StoreUnavailableError('full');
      };
      throw new StoreUnavailableError('lost');
    };
    assert.ok((await node.add('web', 'c1')).error);
    assert.equal((await node.heal()).error, undefined);
    assert.deepEqual(await kept(node), ['c1/eth0']);
    node.local.afterWrite = undefined;
    node.local.beforeWrite = undefined;
    await node.heal();
    assert.deepEqual(await kept(node), []);
  });

  it('are those of the last answer when the store fails before or after any write', async () => {
    const step = fc.record({
      kind: fc.constantFrom('add', 'add', 'del', 'del', 'heal', 'restart'),
      container: fc.nat(1),
      fault: fc.option(
        fc.record({
          at: fc.constantFrom('beforeWrite' as const, 'afterWrite' as const),
          writes: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 2 }),
        }),
        { nil: undefined },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 20 }), async (steps) => {
        let node = await started();
        const told = new Map<string, string | undefined>();
        for (const { kind, container, fault } of steps) {
          const id = `c${container}`;
          let writes = 0;
          if (fault)
            node.local[fault.at] = () => {
              if (fault.writes.includes(writes++)) throw new StoreUnavailableError('lost');
            };
          if (kind === 'add' || kind === 'del') {
            const outcome = await node[kind]('web', id);
            if (outcome.error) told.delete(id);
            else told.set(id, kind === 'add' ? addressOf(outcome) : undefined);
          } else if (kind === 'heal') await node.heal();
          node.local.beforeWrite = undefined;
          node.local.afterWrite = undefined;
          if (kind !== 'restart') continue;
          node = node.restart();
          assert.equal((await node.resync()).error, undefined);
        }
        const next = node.restart();
        assert.equal((await next.resync()).error, undefined);
        for (const [id, address] of told) {
          assert.equal(next.pods.attachments().has(`${id}/eth0`), address !== undefined, id);
          assert.deepEqual(next.ipam.podAddresses(`${id}/eth0`), address ? [address] : []);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('equal the responses to the runtime, after crashes at any point', async () => {
    const step = fc.record({
      kind: fc.constantFrom('add', 'del'),
      container: fc.nat(3),
      crash: fc.option(fc.nat(6), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        let node = await started();
        /** Containers by what the runtime knows; undefined: it got no answer. */
        const told = new Map<string, boolean | undefined>();
        for (const { kind, container, crash } of steps) {
          const id = `c${container}`;
          if (crash !== undefined) node.local.crashAt(node.local.crashPoints + crash);
          const { error } = await node[kind as 'add' | 'del']('web', id);
          told.set(id, error ? undefined : kind === 'add');
          if (crash === undefined) continue;
          node = node.restart();
          assert.equal((await node.resync()).error, undefined);
        }
        for (const [id, there] of told)
          if (there !== undefined)
            assert.equal(node.pods.attachments().has(`${id}/eth0`), there, id);
        // a DEL always gets rid of what an ADD without an answer may have left
        for (const id of told.keys()) assert.equal((await node.del('web', id)).error, undefined);
        assert.deepEqual(known(node), []);
        assert.deepEqual(await kept(node), []);
        assert.equal(node.ipam.allocations().size, 0);
      }),
      { numRuns: 60 },
    );
  });
});
