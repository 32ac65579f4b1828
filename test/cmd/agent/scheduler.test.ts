/** The scheduler's REST routes on a whole agent, with all models. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseValue } from '#cmd/agent/parse-value.ts';
import type { SingleValue } from '#documents/scheduler/single-value.ts';
import {
  addPod,
  cniRequest,
  makeNode,
  type RunningAgent,
  startAgent,
  type TestPod,
} from './harness.ts';
import { post } from './local-request.ts';

const loopback = {
  type: 'ligato.vpp.interfaces.Interface',
  value: { name: 'loop1', type: 'SOFTWARE_LOOPBACK', enabled: true },
};
interface PlanAnswer {
  readonly Operations: readonly { readonly Operation: string; readonly Key: string }[];
  readonly Error?: string;
}

const KEY = 'config/vpp/v2/interfaces/loop1';

/** An interface, in the names of jsonpb. */
interface Named {
  readonly name: string;
  readonly ipAddresses?: readonly string[];
}

describe('values with type and key', () => {
  it('are converted to canonical form', () => {
    const value = parseValue(loopback.type, loopback.value, KEY) as { mtu: number };
    assert.equal(value.mtu, 0);
  });

  it('are rejected with the reason', () => {
    const refused = (type: string, json: unknown, under: string, code: string, text: RegExp) =>
      assert.throws(() => parseValue(type, json, under), { code, message: text });
    refused('ligato.vpp.Interface', {}, KEY, 'CV_MODEL_UNKNOWN', /known models: ligato\.vpp\./);
    refused(loopback.type, { nam: 'x' }, KEY, 'CV_MODEL_INVALID', /nam/);
    refused(loopback.type, { name: 'loop2' }, KEY, 'CV_MODEL_WRONG_KEY', /must be config.*loop2$/);
  });
});

describe('the scheduler of a running agent', () => {
  let running: RunningAgent;
  before(async () => {
    running = await startAgent(makeNode());
  });
  after(() => running?.stop());

  const plan = async (values: object) => {
    const url = `http://127.0.0.1:${running.agent.port}/scheduler/plan`;
    const body = JSON.stringify({ mode: 'update', values });
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as PlanAnswer };
  };

  it('names the groups of the handlers that want a value', async () => {
    const key = 'config/vpp/v2/interfaces/vxlanBVI';
    const { body } = await running.get(`/scheduler/value?key=${encodeURIComponent(key)}`);
    assert.deepEqual((body as SingleValue).wantedBy, ['ipv4net/overlay']);
    const derived = `/scheduler/value?key=${encodeURIComponent('vpp/interface/vxlanBVI/admin-state/UP')}`;
    assert.deepEqual(((await running.get(derived)).body as SingleValue).wantedBy, []);
  });

  it('plans a change of real models and applies nothing', async () => {
    const { status, body } = await plan({ [KEY]: loopback });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.Operations.map(({ Operation, Key }) => [Operation, Key]),
      [
        ['CREATE', KEY],
        ['CREATE', 'vpp/interface/loop1/admin-state/UP'],
      ],
    );
    const { body: now } = await running.get(`/scheduler/status?key=${KEY}`);
    assert.deepEqual(now, { value: { key: KEY, state: 'NONEXISTENT' } });
  });

  it('answers 400 to an invalid value', async () => {
    const { status, body } = await plan({ [KEY]: { ...loopback, value: { name: 'other' } } });
    assert.deepEqual(
      [status, body.Error],
      [400, `${KEY}: the key of this value must be config/vpp/v2/interfaces/other`],
    );
  });

  it('dumps for each program of the original in the encoding that it decodes', async () => {
    const plain = await running.get('/scheduler/dump?descriptor=vpp-interface&state=SB');
    const values = plain.body as { Value: Named; Metadata: { SwIfIndex: number } }[];
    assert.ok(values.length > 0);
    for (const { Value, Metadata } of values) {
      assert.equal(typeof Value.name, 'string');
      assert.ok(Value.ipAddresses === undefined || Value.ipAddresses.length > 0);
      assert.equal(typeof Metadata.SwIfIndex, 'number');
    }
    const named = await running.get('/scheduler/dump?key-prefix=config/vpp/v2/interfaces/&view=SB');
    const texts = named.body as { Value: { ProtoMsgName: string; ProtoMsgData: string } }[];
    assert.ok(texts.every(({ Value }) => Value.ProtoMsgName === loopback.type));
    assert.deepEqual(
      texts.map(({ Value }) => JSON.parse(Value.ProtoMsgData)),
      values.map(({ Value }) => Value),
    );
  });

  it('serves the graph of any time in the past', async () => {
    const { body } = await running.get('/scheduler/txn-history?seq-num=0');
    const { Stop } = body as { Stop: string };
    const { body: nodes } = await running.get(`/scheduler/graph-snapshot?time=${Stop}`);
    assert.ok((nodes as unknown[]).length > 20);
    const { body: none } = await running.get('/scheduler/graph-snapshot?time=2020-01-01T00:00:00Z');
    assert.deepEqual(none, []);
  });

  it('draws its graph', async () => {
    const url = `http://127.0.0.1:${running.agent.port}/scheduler/graph`;
    const response = await fetch(url);
    assert.equal(response.headers.get('content-type'), 'image/svg+xml');
    assert.match(await response.text(), /<svg[\s\S]*cluster_vpp&#45;interface/);
  });
});

describe('a downstream resync on demand', () => {
  it('prints the graph if the request asks for it, whatever else is printed', async () => {
    for (const summary of [false, true]) {
      const kvscheduler = { 'print-txn-summary': summary };
      await using running = await startAgent(makeNode(), { kvscheduler });
      assert.equal((await post(running.localSocket, '/scheduler/downstream-resync')).status, 200);
      assert.deepEqual(running.printed, []);
      const path = '/scheduler/downstream-resync?verbose=1';
      assert.equal((await post(running.localSocket, path)).status, 200);
      assert.match(running.printed.join(''), /graph as it was found:\n/);
    }
  });

  it('does not print transactions at level debug with print-txn-summary: false', async () => {
    const kvscheduler = { 'print-txn-summary': false };
    await using running = await startAgent(makeNode(), { kvscheduler, logLevel: 'debug' });
    const text = running.printed.join('');
    assert.match(text, /NEW EVENT/);
    assert.doesNotMatch(text, /Transaction #/);
  });
});

describe('an agent that verifies every transaction', () => {
  it('finds no difference while a pod is added and deleted', async () => {
    await using running = await startAgent(makeNode(), { env: { KVSCHED_VERIFY_MODE: '1' } });
    const pod: TestPod = { name: 'web', containerId: 'c1', netns: '/run/netns/web' };
    assert.equal((await addPod(running, pod)).error, '');
    assert.equal((await running.client.delete(cniRequest(pod))).result, 0);
    const { body } = await running.get('/scheduler/txn-history');
    const records = body as { VerificationErrors?: string[]; RetrieveErrors?: string[] }[];
    assert.ok(records.length >= 3);
    for (const { VerificationErrors, RetrieveErrors } of records)
      assert.deepEqual([VerificationErrors, RetrieveErrors], [undefined, undefined]);
    const { body: stats } = await running.get('/scheduler/stats');
    const { AllDescriptors } = stats as { AllDescriptors: { name: string; count: number }[] };
    const retrieves = AllDescriptors.find(({ name }) => name === 'Retrieve')?.count ?? 0;
    // A single resync retrieves each descriptor once.
    assert.ok(retrieves > 20, String(retrieves));
  });
});
