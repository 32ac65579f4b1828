/** Random events with random failures: afterwards the handlers know what a fresh resync finds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { nodeValue, podValue, sorted, TestNode, vppNodeValue } from './test-node.ts';

const FILE = 'test/plugins/random-failures.test.ts';

const EVENTS = 10;
/** About 10,000 events in `npm run soak -- random`: five in a case on average. */
const CASES = process.env['CV_PART'] === undefined ? 25 : 2000;

const event = fc.record({
  kind: fc.constantFrom(
    'add',
    'add',
    'add',
    'del',
    'show',
    'hide',
    'vppnode',
    'node',
    'leave',
    'heal',
    'resync',
  ),
  n: fc.nat(2),
  failure: fc.constantFrom('none', 'none', 'commit', 'store', 'reply', 'cluster', 'host', 'vpp'),
  /** Writes before the one that fails. */
  after: fc.nat(3),
});

type RandomEvent = typeof event extends fc.Arbitrary<infer E> ? E : never;

function run(node: TestNode, { kind, n }: RandomEvent) {
  const other = `node-${n}`;
  switch (kind) {
    case 'add':
      return node.add(`p${n}`, `c${n}`);
    case 'del':
      return node.del(`p${n}`, `c${n}`);
    case 'show': {
      const [address = `10.1.1.${20 + n}`] = node.ipam.podAddresses(`c${n}/eth0`);
      return node.put(podValue(`p${n}`, address));
    }
    case 'hide':
      return node.remove(podValue(`p${n}`, ''));
    case 'vppnode':
      return node.put(vppNodeValue(2 + n, other, `192.168.16.${2 + n}/24`));
    case 'node':
      return node.put(nodeValue(other, `172.16.0.${6 + n}`));
    case 'leave':
      return node.remove(vppNodeValue(2 + n, other));
    case 'resync':
      return node.resync();
    default:
      return node.heal();
  }
}

/** Lets one of the things fail that an event needs. @returns ends the failure */
function fail(node: TestNode, { failure, after }: RandomEvent): () => void {
  const error = new Error(`${failure} fails`);
  let writes = after;
  const failing = () => {
    if (writes-- === 0) throw error;
  };
  if (failure === 'commit') node.rejects = () => true;
  if (failure === 'store') node.local.beforeWrite = failing;
  if (failure === 'reply') node.local.afterWrite = failing;
  if (failure === 'cluster') node.cluster.disconnect();
  if (failure === 'host') node.host.failing = error;
  if (failure === 'vpp') node.vpp.failing = error;
  return () => {
    node.rejects = () => false;
    node.local.beforeWrite = undefined;
    node.local.afterWrite = undefined;
    node.cluster.reconnect();
    node.host.failing = undefined;
    node.vpp.failing = undefined;
  };
}

const dataOf = ({ handlers }: TestNode) =>
  handlers.map((handler) => [handler.name, handler.describeInternalData?.()]);

describe('the handlers', () => {
  const name = 'know after any event and failure what a fresh resync finds';
  it(name, async () => {
    const events = fc.array(event, { maxLength: EVENTS, size: 'max' });
    await checkProperty(
      { file: FILE, name },
      CASES,
      fc.asyncProperty(events, async (all) => {
        const node = new TestNode();
        assert.equal((await node.resync([nodeValue('node-a', '172.16.0.5')])).error, undefined);
        for (const one of all) {
          const end = fail(node, one);
          const { error } = await run(node, one);
          end();
          // what is not reverted is left to the healing resync
          const isReverted = error === undefined || one.kind === 'add';
          const before = [sorted(node.config), dataOf(node)];
          assert.equal((await node.heal()).error, undefined);
          if (isReverted && one.failure !== 'cluster')
            assert.deepEqual([sorted(node.config), dataOf(node)], before, JSON.stringify(one));
          const state = node.state();
          const restarted = node.restart();
          assert.equal((await restarted.resync(state)).error, undefined);
          assert.deepEqual(sorted(restarted.config), sorted(node.config), JSON.stringify(one));
        }
      }),
    );
  });
});
