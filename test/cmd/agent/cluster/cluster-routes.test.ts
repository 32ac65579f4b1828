/** Agents that ask each other for what a client of one of them wants to see. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { AgentAddress } from '#cmd/agent/cluster/other-agents.ts';
import type { ClusterNames, ClusterStatus, NodeStatus } from '#documents/cluster.ts';
import type { PodList } from '#documents/pods.ts';
import { basic } from '#test/infra/http/authentication/client.ts';
import { makeNode, type RunningAgent, startAgent, until } from '../harness.ts';
import { tellOfNode } from '../scenario.ts';
import { create, web } from '../test-pods.ts';

const http = { 'cluster-name': 'test', 'client-basic-auth': ['reader:r'] };
const reader = basic('reader', 'r');

describe('an agent that asks others', { timeout: 120_000 }, () => {
  const addresses = new Map<string, AgentAddress>();
  const asked: string[] = [];
  /** Another program at the address of a node, which sends a page. */
  const webServer = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (isLate) {
      lateReplies.push(response);
      return;
    }
    if (endlessStatus) {
      response.statusCode = endlessStatus;
      const send = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', send);
      };
      response.on('close', () => endlessEnds++);
      send();
      return;
    }
    response.setHeader('content-type', 'text/html');
    response.end('<script>alert(1)</script>');
  });
  /** Status of replies that never end; 0: all end. */
  let endlessStatus = 0;
  let endlessEnds = 0;
  let isLate = false;
  const lateReplies: ServerResponse[] = [];
  let first: RunningAgent;
  let second: RunningAgent;
  before(async () => {
    await once(webServer.listen(0, '127.0.0.1'), 'listening');
    const agentAddress = (name: string) => addresses.get(name);
    const node = makeNode();
    const other = { ...makeNode(), cluster: node.cluster };
    first = await startAgent(node, {
      http,
      environment: { ...node, connectVpp: node.vpp.connect(), agentAddress },
    });
    second = await startAgent(other, {
      http,
      label: 'node2',
      environment: { ...other, connectVpp: other.vpp.connect(), agentAddress },
    });
    addresses.set('node1', { host: '127.0.0.1', port: first.agent.port });
    addresses.set('node2', { host: '127.0.0.1', port: second.agent.port });
    addresses.set('node3', { host: '127.0.0.1', port: (webServer.address() as AddressInfo).port });
    // nothing listens there
    addresses.set('node4', { host: '127.0.0.1', port: 1 });
    await tellOfNode(node, 'node3', { id: 3, address: '172.16.0.3', vpp: '192.168.16.3/24' });
    await tellOfNode(node, 'node4', { id: 4, address: '172.16.0.4', vpp: '192.168.16.4/24' });
    await create(second, web);
    await until(async () => ((await names()).body as ClusterNames).total === 4);
  });
  after(async () => {
    webServer.close();
    await first?.stop();
    await second?.stop();
  });

  const get = async (path: string, headers: Record<string, string> = reader) => {
    const response = await fetch(`http://127.0.0.1:${first.agent.port}${path}`, { headers });
    const text = await response.text();
    const body: unknown = text.startsWith('{') ? JSON.parse(text) : text;
    return { status: response.status, type: response.headers.get('content-type'), body };
  };
  const names = () => get('/contiv/v1/cluster/names');
  const relayed = (node: string, path: string, headers?: Record<string, string>) =>
    get(`/contiv/v1/cluster/document?${new URLSearchParams({ node, path })}`, headers);
  const errorOf = ({ body }: { readonly body: unknown }) => (body as { Error: string }).Error;

  it('knows the names of all', async () => {
    const { body } = await names();
    assert.deepEqual(body, {
      cluster: 'test',
      thisNode: 'node1',
      total: 4,
      nodes: ['node1', 'node2', 'node3', 'node4'],
    });
  });

  it('shows what each says, and why others say nothing', async () => {
    const { body } = await get('/contiv/v1/cluster');
    const { nodes, problems, matching } = body as ClusterStatus;
    assert.equal(matching, 4);
    const said = nodes.map(({ status, failure }) => status?.state ?? failure?.reason);
    assert.deepEqual(said.slice(2), ['invalid-reply', 'refused']);
    for (const { status } of nodes.slice(0, 2)) assert.ok(status && status.agent === 'v0', said[0]);
    assert.match(nodes[3]!.failure!.remedy, /contiv-vswitch of the node/);
    for (const { remedy, nodes: its } of problems) assert.ok(remedy !== '' && its.length > 0);
    const some = (await get('/contiv/v1/cluster?search=node2')).body as ClusterStatus;
    assert.deepEqual(
      some.nodes.map(({ name }) => name),
      ['node2'],
    );
  });

  it('ends a reply that does not end, whatever its status is', async () => {
    for (const status of [200, 500]) {
      endlessStatus = status;
      const { nodes } = (await get('/contiv/v1/cluster?search=node3')).body as ClusterStatus;
      assert.equal(nodes[0]!.failure!.reason, status === 200 ? 'invalid-reply' : 'status');
    }
    endlessStatus = 0;
    await until(async () => endlessEnds === 2);
  });

  it('ends what it asks for clients that leave before the reply begins', async () => {
    const url = `http://127.0.0.1:${first.agent.port}/contiv/v1/cluster/events?node=node3`;
    isLate = true;
    const leaving = Array.from({ length: 8 }, async () => {
      const left = new AbortController();
      const reply = fetch(url, { headers: reader, signal: left.signal });
      reply.catch(() => undefined);
      await until(async () => lateReplies.length === 8);
      left.abort();
    });
    await Promise.all(leaving);
    isLate = false;
    const closed = Promise.all(lateReplies.map((reply) => once(reply, 'close')));
    for (const reply of lateReplies) reply.write('x');
    await closed;
    const { status } = await get('/contiv/v1/cluster/events?node=node3');
    assert.equal(status, 200);
  });

  it('says of itself the same as to others', async () => {
    const own = (await get('/contiv/v1/status')).body as NodeStatus;
    const { nodes } = (await get('/contiv/v1/cluster?search=node1')).body as ClusterStatus;
    assert.deepEqual({ ...nodes[0]!.status, now: '' }, { ...own, now: '' });
  });

  it('reads documents of others with the credentials of its client', async () => {
    const { status, type, body } = await relayed('node2', 'contiv/v1/pods?search=web');
    assert.equal(status, 200);
    assert.match(type!, /^application\/json/);
    assert.deepEqual(
      (body as PodList).pods.map(({ name }) => name),
      ['web'],
    );
    assert.equal((await relayed('node2', 'contiv/v1/pods', {})).status, 401);
    assert.equal((await relayed('node2', 'readiness')).status, 200);
  });

  it('passes on what the other agent refuses', async () => {
    const missing = await relayed('node2', 'contiv/v1/pods/default/none');
    assert.equal(missing.status, 404);
    assert.match(errorOf(missing), /^node2 \(127\.0\.0\.1:\d+\): status 404: pod default\/none/);
    assert.equal((await relayed('node2', 'contiv/v1/pods?limit=x')).status, 400);
  });

  it('asks nodes only, and for no other documents', async () => {
    for (const name of ['node5', '', '127.0.0.1', 'localhost:80/x'])
      assert.equal((await relayed(name, 'readiness')).status, 404, name);
    assert.match(errorOf(await relayed('node1', 'readiness')), /is this node/);
    const before = asked.length;
    for (const path of ['metrics', '../metrics', 'controller/resync', 'log/list'])
      assert.equal((await relayed('node3', path)).status, 400, path);
    assert.equal(asked.length, before);
  });

  it('says why a node does not answer, and passes no page on', async () => {
    const refused = await relayed('node4', 'readiness');
    assert.equal(refused.status, 502);
    assert.match(errorOf(refused), /^node4 \(127\.0\.0\.1:1\): connection refused\. Check the pod/);
    const { type } = await relayed('node3', 'readiness');
    assert.match(type!, /^application\/json/);
  });

  it('follows the events of others until its client leaves', async () => {
    const url = `http://127.0.0.1:${first.agent.port}/contiv/v1/cluster/events?node=node2&last=1`;
    const leaving = new AbortController();
    const response = await fetch(url, { headers: reader, signal: leaving.signal });
    assert.match(response.headers.get('content-type')!, /^text\/event-stream/);
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body!) {
      text += decoder.decode(piece, { stream: true });
      if (text.includes('event: processed')) break;
    }
    leaving.abort();
    assert.match(text, /event: connected/);
    // all places are free again
    for (let nth = 1; nth <= 9; nth++) {
      const next = new AbortController();
      await until(async () => {
        const { status } = await fetch(url, { headers: reader, signal: next.signal });
        return status === 200;
      });
      next.abort();
    }
  });
});
