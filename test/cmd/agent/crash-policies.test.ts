/**
 * The agent crashes at each message of a change of policies, or VPP refuses the message: at no point does a
 * connection pass, or fail to pass, on which the policies before and after the change agree.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { selectCases, selectNumbers } from '#test/support/part-of-cases.ts';
import {
  block,
  namespace,
  pod,
  pods,
  policy,
  selector,
} from '../../plugins/policy/policy-objects.ts';
import { recordOf } from '../../plugins/policy/policy-records.ts';
import { Life } from './crash.ts';
import {
  addPod,
  makeNode,
  type Node,
  type RunningAgent,
  replyAddress,
  startAgent,
  until,
} from './harness.ts';
import { type KubeChange, writeChange } from './kube-change.ts';
import { type Connection, verdicts } from './policy-verdicts.ts';
import { db, web } from './test-pods.ts';

const inDefault = { namespace: 'default' };
const addresses = { web: '10.1.1.2', db: '10.1.1.3', client: '10.1.2.7', outside: '198.51.100.7' };
/** Records of the pods of this node contain no address yet. */
const record = (name: 'web' | 'db' | 'client', ips: readonly string[] = [], app: string = name) =>
  recordOf('pod', pod({ name, ...inDefault, labels: { app }, ips }));
const tcp = (number: number) => ({ port: { number } });
const named = (input: Parameters<typeof policy>[0]) =>
  recordOf('policy', policy({ ...inDefault, name: 'p', ...input }));

const records = [
  record('web'),
  record('db'),
  record('client', [addresses.client]),
  recordOf('namespace', namespace('default')),
];
const denyAll = named({});
const fromClient = named({ ingress_rule: [{ from: [pods({ app: 'client' })], port: [tcp(80)] }] });
const fromDb = named({
  pods: selector({ app: 'web' }),
  ingress_rule: [{ from: [pods({ app: 'db' }), pods({ app: 'client' })], port: [tcp(81)] }],
});
const egress = named({
  pods: selector({ app: 'web' }),
  policy_type: 'EGRESS',
  egress_rule: [{ to: [block('198.51.100.0/24')], port: [tcp(80)] }],
});
const bothWays = named({
  policy_type: 'INGRESS_AND_EGRESS',
  ingress_rule: [{ from: [pods({ app: 'db' })] }],
  egress_rule: [{ to: [pods({ app: 'web' })], port: [tcp(81)] }],
});

const podAcl = (containerId: string) => `contiv-policy-out-vpp-tap-${containerId.slice(0, 15)}`;

const connections: readonly Connection[] = [80, 81].flatMap((port) => [
  ...[addresses.db, addresses.client, addresses.outside, '172.30.1.2'].map((from) => ({
    from,
    to: addresses.web,
    port,
    acl: podAcl(web.containerId),
  })),
  ...[addresses.web, addresses.client].map((from) => ({
    from,
    to: addresses.db,
    port,
    acl: podAcl(db.containerId),
  })),
  ...[addresses.web, addresses.db].flatMap((from) =>
    [addresses.client, addresses.outside].map((to) => ({
      from,
      to,
      port,
      acl: 'contiv-policy-NODE-GLOBAL',
    })),
  ),
]);

/** A node with two pods, and its agent. */
async function started(
  before: readonly KubeChange[],
  node = makeNode(),
  options = {},
): Promise<RunningAgent> {
  for (const one of [...records, ...before]) await writeChange(node, one);
  const running = await startAgent(node, options);
  for (const [one, address] of [
    [web, addresses.web],
    [db, addresses.db],
  ] as const)
    assert.equal(replyAddress(await addPod(running, one)), address);
  return running;
}

/** Verdicts at the end of a run without faults. */
async function reached(
  before: readonly KubeChange[],
  change: KubeChange,
): Promise<[string[], string[]]> {
  const node = makeNode();
  const running = await started(before, node);
  const first = verdicts(node, connections);
  await running.stop();
  await writeChange(node, change);
  await using _second = await startAgent(node);
  return [first, verdicts(node, connections)];
}

/** Fails where both agree on another verdict; `open` agrees with nothing. */
function check(
  before: readonly string[],
  after: readonly string[],
  node: Node,
  point: string,
): void {
  const now = verdicts(node, connections);
  for (const [at, verdict] of now.entries()) {
    const expected = [before[at], after[at]];
    assert.ok(
      expected.includes(verdict),
      `${point}: ${JSON.stringify(connections[at])} is ${verdict}, not ${expected}`,
    );
  }
}

const scenarios: Readonly<Record<string, readonly [readonly KubeChange[], KubeChange]>> = {
  'the first policy': [[], denyAll],
  'a policy that permits others than before': [[fromClient], fromDb],
  'the deletion of a policy': [
    [fromClient],
    { resource: fromClient.resource, key: fromClient.key },
  ],
  'the first egress policy': [[], egress],
  'a change from egress to both directions': [[egress], bothWays],
  'the deletion of a policy for both directions': [
    [bothWays],
    { resource: bothWays.resource, key: bothWays.key },
  ],
  'a changed label of a pod': [[fromDb], record('db', [], 'other')],
};

describe('an agent that crashes at any message', () => {
  for (const [name, [before, change]] of Object.entries(scenarios)) {
    it(`of ${name} neither opens nor closes what stays, and the next one repairs`, async (t) => {
      const [first, last] = await reached(before, change);
      assert.notDeepEqual(first, last);
      let points = 0;
      for (const endAt of selectNumbers()) {
        const node = makeNode();
        const life = new Life(node);
        const environment = { ...life.environment(), cluster: node.cluster };
        const running = await started(before, node, { environment });
        assert.deepEqual(verdicts(node, connections), first);
        life.arm(endAt);
        await writeChange(node, change);
        await until(() => life.isOver || verdicts(node, connections).join() === last.join());
        await running.stop();
        const point = `point ${endAt}, ${life.names.at(-1)}`;
        check(first, last, node, point);
        node.vpp.onRequest = (when, request) =>
          check(first, last, node, `${point}, then ${when} ${request.name}`);
        await using _second = await startAgent(node);
        node.vpp.onRequest = undefined;
        assert.deepEqual(verdicts(node, connections), last, point);
        points = life.points;
        if (!life.isOver) break;
      }
      t.diagnostic(`${points} points`);
      assert.ok(points >= 2);
    });
  }
});

describe('a VPP that refuses any message', () => {
  for (const [name, [before, change]] of selectCases(Object.entries(scenarios))) {
    it(`of ${name} neither opens nor closes what stays, until the repair`, async (t) => {
      const [first, last] = await reached(before, change);
      let refused = 0;
      for (let nth = 1; ; nth++) {
        const node = makeNode();
        await using running = await started(before, node, { controller: { delayRetry: 10 } });
        let messages = 0;
        let refusedMessage = '';
        node.vpp.faults.add(nth, { refuse: -1 }, ({ name: message, kind }) => {
          const isCounted = kind === 'request' && message.startsWith('acl_');
          if (isCounted && ++messages === nth) refusedMessage = message;
          return isCounted;
        });
        node.vpp.onRequest = (when, request) =>
          check(first, last, node, `message ${nth}, ${refusedMessage}, ${when} ${request.name}`);
        await writeChange(node, change);
        await until(() => verdicts(node, connections).join() === last.join());
        await until(() => running.agent.controller.isIdle);
        node.vpp.onRequest = undefined;
        if (messages < nth) break;
        refused++;
      }
      t.diagnostic(`${refused} messages`);
      assert.ok(refused >= 1);
    });
  }
});

describe('Add Pod while VPP refuses a message about ACLs', () => {
  it('fails and leaves no interface, so that no pod starts without its table', async (t) => {
    let refused = 0;
    for (let nth = 1; ; nth++) {
      const node = makeNode();
      for (const one of [...records, denyAll]) await writeChange(node, one);
      await using running = await startAgent(node);
      const empty = JSON.stringify(node.vpp.snapshot());
      let messages = 0;
      node.vpp.faults.add(nth, { refuse: -1 }, ({ name, kind }) => {
        const isCounted = kind === 'request' && name.startsWith('acl_');
        if (isCounted) messages++;
        return isCounted;
      });
      const { error } = await addPod(running, web);
      if (messages < nth) {
        assert.equal(error, '');
        break;
      }
      assert.notEqual(error, '', `message ${nth}`);
      assert.equal(JSON.stringify(node.vpp.snapshot()), empty, `message ${nth}`);
      refused++;
    }
    t.diagnostic(`${refused} messages`);
    assert.ok(refused >= 2);
  });
});
