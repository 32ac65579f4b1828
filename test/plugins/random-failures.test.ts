/**
 * Random events of which single calls fail: those of a handler, and single messages to the stores, the host and VPP.
 * Afterwards the handlers know what a fresh resync and a restarted agent find.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KvStore } from '#datastore/api.ts';
import { StoreUnavailableError } from '#datastore/api.ts';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { CallFailures, failHandler, handlerErrors } from './call-failures.ts';
import { FakeHost, FakeVpp } from './fake-ports.ts';
import type { Outcome } from './handler-bench.ts';
import { stateOf } from './node-state.ts';
import { pods, policy } from './policy/policy-objects.ts';
import { recordOf } from './policy/policy-records.ts';
import { endpointsValue, serviceValue } from './service/service-values.ts';
import {
  type KubeValue,
  nodeValue,
  podValue,
  TestNode,
  type TestNodeOptions,
  vppNodeValue,
} from './test-node.ts';

const FILE = 'test/plugins/random-failures.test.ts';

const EVENTS = 10;
/** About 10,000 events in `npm run soak -- random`: five in a case on average. */
const CASES = process.env['CV_PART'] === undefined ? 25 : 2000;

const portError = {
  defect: () => new TypeError('a defect'),
  unavailable: () => new StoreUnavailableError('out of reach'),
  refused: () => new Error('refused'),
} as const;

const failure = fc.oneof(
  fc.constant({ at: 'none' } as const),
  fc.constant({ at: 'commit' } as const),
  fc.record({
    at: fc.constant('port' as const),
    port: fc.constantFrom('local', 'local', 'cluster', 'host', 'vpp'),
    after: fc.nat(5),
    lasts: fc.boolean(),
    isDone: fc.boolean(),
    error: fc.constantFrom('defect', 'unavailable', 'refused'),
  }),
  fc.record({
    at: fc.constantFrom('handlesEvent', 'before the call', 'after the call'),
    handler: fc.nat(7),
    error: fc.constantFrom(...(Object.keys(handlerErrors) as (keyof typeof handlerErrors)[])),
  }),
);

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
    'own node',
    'leave',
    'service',
    'endpoints',
    'no service',
    'policy',
    'no policy',
    'node config',
    'namespace',
    'heal',
    'resync',
    'restart',
  ),
  n: fc.nat(2),
  failure,
  /** A change of Kubernetes is found by a resync from the database. */
  isMissed: fc.boolean(),
  /** A request of kubelet that failed is sent again. */
  isRepeated: fc.boolean(),
  /** A healing resync follows; otherwise the next event precedes it. */
  isHealed: fc.boolean(),
});

type RandomEvent = typeof event extends fc.Arbitrary<infer E> ? E : never;

const options = {
  yaml: 'crdNodeConfigurationDisabled: false\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}',
} satisfies TestNodeOptions;

/** A value of Kubernetes that appears or changes, or the key of one that disappears. */
type KubeChange = { readonly put: KubeValue } | { readonly remove: KubeValue };

function changeOf(node: TestNode, { kind, n }: RandomEvent): KubeChange | undefined {
  const other = `node-${n}`;
  const address = node.ipam.podAddresses(`c${n}/eth0`)[0] ?? `10.1.1.${20 + n}`;
  switch (kind) {
    case 'show':
      return { put: podValue(`p${n}`, address) };
    case 'hide':
      return { remove: podValue(`p${n}`, '') };
    case 'vppnode':
      return { put: vppNodeValue(2 + n, other, `192.168.16.${2 + n}/24`) };
    case 'node':
      return { put: nodeValue(other, `172.16.0.${4 + n}`) };
    case 'own node':
      return { put: nodeValue('node-a', `172.16.0.${5 - n}`) };
    case 'leave':
      return { remove: vppNodeValue(2 + n, other) };
    case 'service':
      // the protocol of the last one is not supported
      return {
        put: serviceValue(`s${n}`, `10.96.0.${1 + n}`, n === 2 ? { port: [unsupportedPort] } : {}),
      };
    case 'endpoints':
      return { put: endpointsValue(`s${n}`, [{ ip: address, node: 'node-a', pod: `p${n}` }]) };
    case 'no service':
      return { remove: serviceValue(`s${n}`, '') };
    case 'policy':
      return { put: policyValue(n) };
    case 'no policy':
      return { remove: policyValue(n) };
    case 'node config':
      return n === 0 ? { remove: nodeConfigs[0] } : { put: nodeConfigs[n as 1 | 2] };
    default:
      return undefined;
  }
}

const NOT_KEPT = 'CV_POLICY_CONNECTIONS_NOT_KEPT';
const unsupportedPort = { name: 'http', protocol: 'SCTP', port: 80 };

function run(node: TestNode, event: RandomEvent): Promise<Outcome> {
  const { kind, n, isMissed } = event;
  const change = changeOf(node, event);
  if (change) return isMissed ? node.resync(stateAfter(node, change)) : apply(node, change);
  switch (kind) {
    case 'add':
      return node.add(`p${n}`, `c${n}`);
    case 'del':
      return node.del(`p${n}`, `c${n}`);
    case 'namespace':
      // another one has the path now
      node.host.namespaces.set(`/run/netns/c${n}`, 100 + node.resyncCount);
      return node.heal();
    case 'resync':
      return node.resync();
    default:
      return node.heal();
  }
}

function apply(node: TestNode, change: KubeChange): Promise<Outcome> {
  return 'put' in change ? node.put(change.put) : node.remove(change.remove);
}

function stateAfter(node: TestNode, change: KubeChange): KubeValue[] {
  const { resource, key } = 'put' in change ? change.put : change.remove;
  const others = node.state().filter((one) => one.resource !== resource || one.key !== key);
  return 'put' in change ? [...others, change.put] : others;
}

function policyValue(n: number): KubeValue {
  const ingress_rule = n === 0 ? [] : [{ from: [pods()], port: [{ port: { number: n } }] }];
  return recordOf('policy', policy({ namespace: 'default', name: `policy-${n}`, ingress_rule }));
}

function nodeConfigValue(gateway: string): KubeValue {
  const value = nodeConfigModel.canonical({ node_name: 'node-a', gateway });
  return { resource: 'nodeconfig', key: resources.nodeconfig.key('node-a', ''), value };
}

const nodeConfigs = [
  nodeConfigValue(''),
  nodeConfigValue('192.168.16.100'),
  nodeConfigValue('no address'),
] as const;

/** Lets one of the things fail that an event needs. @returns ends the failure */
function fail(node: TestNode, calls: CallFailures, { failure }: RandomEvent): () => void {
  switch (failure.at) {
    case 'none':
      return () => undefined;
    case 'commit':
      node.rejects = () => true;
      return () => {
        node.rejects = () => false;
      };
    case 'port':
      calls.begin({ ...failure, error: portError[failure.error]() });
      return () => calls.end();
    default:
      return failHandler(node.handlers, failure);
  }
}

async function copyOf(store: KvStore): Promise<KvStore> {
  const copy = new MemoryStore();
  const { entries } = await store.list('');
  await copy.putAll(new Map(entries.map(({ key, value }) => [key, value])));
  return copy;
}

/** A node without state of its own, on the machine of another one. */
async function restarted(state: readonly KubeValue[], machine: TestNodeOptions): Promise<TestNode> {
  const node = new TestNode(machine);
  assert.equal((await node.resync(state)).error, undefined);
  return node;
}

const isResync = ({ kind, isMissed }: RandomEvent): boolean =>
  ['heal', 'resync', 'namespace', 'node config'].includes(kind) ||
  (isMissed && !isRequest({ kind }));
const isRequest = ({ kind }: Pick<RandomEvent, 'kind'>): boolean =>
  kind === 'add' || kind === 'del';

/** Whether a first resync was successful. */
const isConfigured = ({ handlers }: TestNode): boolean =>
  handlers.every(({ state }) => state?.isKnown !== false);

interface Counts {
  events: number;
  failed: number;
}

async function checkEvents(events: readonly RandomEvent[], counts: Counts): Promise<void> {
  const calls = new CallFailures();
  const [local, cluster] = [new MemoryStore(), new MemoryStore()];
  const machine = {
    ...options,
    local: calls.around('local', local),
    cluster: calls.around('cluster', cluster),
    host: calls.around('host', new FakeHost()),
    vpp: calls.around('vpp', new FakeVpp()),
  };
  let node = await restarted([nodeValue('node-a', '172.16.0.5')], machine);
  /** Without a healing resync the handlers must know the same. */
  let isCertain = true;
  for (const one of events) {
    const what = JSON.stringify(one);
    const kube = node.state();
    const before = isConfigured(node) && one.kind !== 'restart' && stateOf(node);
    if (one.kind === 'restart') node = new TestNode(machine);
    const end = fail(node, calls, one);
    let outcome = await (one.kind === 'restart' ? node.resync(kube) : run(node, one));
    end();
    counts.events++;
    if (outcome.error || outcome.needsHealing) counts.failed++;
    if (outcome.fatal) {
      node = await restarted(node.state(), machine);
      isCertain = true;
      continue;
    }
    const isRevertible = one.kind === 'add' || isResync(one);
    if (before && isRevertible && outcome.error && !outcome.isCommitted)
      assert.deepEqual(stateOf(node), before, what);
    if (outcome.needsHealing) isCertain = false;
    // the next resync reads the connections that the kernel did not report
    if (outcome.warnings.includes(NOT_KEPT)) isCertain = false;
    if (one.isRepeated && outcome.error && isRequest(one)) outcome = await run(node, one);
    // no healing follows a Delete Pod that fails: kubelet repeats it
    if (outcome.needsHealing || (one.kind === 'del' && outcome.error)) isCertain = false;
    if (!one.isHealed) continue;
    const unhealed: unknown = isCertain && stateOf(node);
    assert.equal((await node.heal()).error, undefined, what);
    const healed = stateOf(node);
    if (isCertain) assert.deepEqual(healed, unhealed, what);
    const copies = { local: await copyOf(local), cluster: await copyOf(cluster) };
    const fresh = await restarted(node.state(), { ...machine, ...copies });
    assert.deepEqual(stateOf(fresh), healed, what);
    isCertain = true;
  }
}

describe('the handlers', () => {
  const name = 'know after any event and failure what a fresh resync finds';
  it(name, async (t) => {
    const counts: Counts = { events: 0, failed: 0 };
    const events = fc.array(event, { maxLength: EVENTS, size: 'max' });
    const property = fc.asyncProperty(events, (all) => checkEvents(all, counts));
    await checkProperty({ file: FILE, name }, CASES, property);
    t.diagnostic(`${counts.events} events, of which ${counts.failed} failed`);
  });
});
