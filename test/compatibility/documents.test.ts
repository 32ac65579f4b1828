/**
 * The original's documents on a running agent. Each was once decoded by the Go structures of ligato
 * vpp-agent v3.1.0 without an unknown field, and encoded again to the same JSON.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeNode, type RunningAgent, startAgent, until } from '#test/cmd/agent/harness.ts';
import { assertGolden } from './golden.ts';
import { operatorConfiguration } from './operator-configuration.ts';

/** Documents of which only the objects of the operator are compared: the agent has some of its own. */
const documents = [
  '/dump/vpp/v2/interfaces',
  '/dump/vpp/v2/interfaces/afpacket',
  '/dump/vpp/v2/interfaces/ethernet',
  '/dump/vpp/v2/interfaces/loopback',
  '/dump/vpp/v2/interfaces/memif',
  '/dump/vpp/v2/interfaces/tap',
  '/dump/vpp/v2/interfaces/vxlan',
  '/dump/vpp/v2/bd',
  '/dump/vpp/v2/fib',
  '/dump/vpp/v2/xc',
  '/dump/vpp/v2/arps',
  '/dump/vpp/v2/routes',
  '/dump/vpp/v2/proxyarp/interfaces',
  '/dump/vpp/v2/proxyarp/ranges',
  '/dump/vpp/v2/acl/ip',
  '/dump/vpp/v2/nat/dnat',
  '/dump/linux/v2/interfaces',
  '/dump/linux/v2/arps',
  '/dump/linux/v2/routes',
  '/stats/linux/interfaces',
] as const;

const wholeDocuments = [
  '/dump/vpp/v2/ipscanneigh',
  '/dump/vpp/v2/acl/macip',
  '/dump/vpp/v2/nat/global',
  '/dump/vpp/v2/nat/interfaces',
  '/dump/vpp/v2/nat/pools',
  '/dump/vpp/v2/punt/sockets',
] as const;

const unavailable = [
  '/dump/vpp/v2/abf',
  '/dump/vpp/v2/ipsec/sas',
  '/dump/vpp/v2/ipsec/spds',
  '/service',
] as const;

describe('the documents of the original', () => {
  let running: RunningAgent;
  before(async () => {
    running = await startAgent(makeNode(), { externalSources: [operatorConfiguration] });
    await until(() => running.agent.controller.isIdle);
  });
  after(() => running?.stop());

  it('have the shapes of its Go structures', async () => {
    const found: Record<string, unknown> = {};
    const { body } = await running.get('/dump/vpp/v2/interfaces');
    const interfaces = body as Record<string, { interface: { name: string } }>;
    const nameOf = (index: unknown) => interfaces[String(index)]?.interface.name ?? `no ${index}`;
    for (const path of documents) found[path] = ofOperator((await running.get(path)).body, nameOf);
    for (const path of wholeDocuments) found[path] = (await running.get(path)).body;
    assertGolden('golden/documents.json', found);
  });

  it('are lists, or objects by index and MAC, also when they are empty', async () => {
    await using empty = await startAgent(makeNode());
    await until(() => empty.agent.controller.isIdle);
    const body = async (path: string) => (await empty.get(path)).body;
    for (const path of ['/dump/vpp/v2/fib', '/dump/vpp/v2/xc', '/dump/vpp/v2/interfaces/memif'])
      assert.deepEqual(await body(path), {}, path);
    for (const path of ['/dump/vpp/v2/proxyarp/ranges', '/dump/vpp/v2/punt/sockets'])
      assert.equal(await body(path), null, path);
  });

  it('are an error where this agent configures nothing of the kind', async () => {
    for (const path of unavailable) {
      const { status, body } = await running.get(path);
      assert.equal(status, 500, path);
      assert.match((body as { Error: string }).Error, /not configured|not over HTTP/, path);
    }
  });

  it('are an error, and not empty, while VPP is not connected', async () => {
    const node = makeNode();
    await using without = await startAgent(node);
    await until(() => without.agent.controller.isIdle);
    node.vpp.crash();
    await until(async () => (await without.get('/readiness')).status === 500);
    const ofVpp = [...documents, ...wholeDocuments].filter((path) => path.startsWith('/dump/vpp/'));
    for (const path of ofVpp) {
      // always empty, so it is not read
      if (path === '/dump/vpp/v2/acl/macip') continue;
      const { status, body } = await without.get(path);
      assert.equal(status, 500, path);
      assert.match((body as { Error: string }).Error, /VPP is not connected/, path);
    }
  });

  it('are listed with all other routes at /, for people and for programs', async () => {
    const url = `http://127.0.0.1:${running.agent.port}/`;
    const page = await fetch(url);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    const text = await page.text();
    for (const path of [...documents, ...wholeDocuments, ...unavailable])
      assert.ok(text.includes(`<a href="${path}">`), path);
    const list = await fetch(url, { headers: { accept: 'application/json' } });
    const routes = (await list.json()) as { method: string; path: string; summary: string }[];
    assert.ok(routes.every(({ summary }) => text.includes(summary.split('"')[0]!.split('<')[0]!)));
    assert.ok(routes.some(({ method, path }) => method === 'POST' && path === '/vpp/command'));
  });
});

function ofOperator(document: unknown, nameOf: (index: unknown) => string): unknown {
  const isOwn = (item: unknown): boolean => /"(op-|10\.7\.)/.test(JSON.stringify(item));
  if (Array.isArray(document)) {
    const own = document.filter(isOwn).map((item) => withoutChance(item, nameOf));
    return own
      .map((item) => JSON.stringify(item))
      .sort()
      .map((text) => JSON.parse(text));
  }
  if (document === null) return null;
  const entries = Object.entries(document as object).filter(([, item]) => isOwn(item));
  return Object.fromEntries(
    entries
      .map(([key, item]) => [/^[0-9]+$/.test(key) ? nameOf(key) : key, withoutChance(item, nameOf)])
      .sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1)),
  );
}

/** Names in place of indexes, which depend on the order of creation, and nothing for random MACs. */
function withoutChance(item: unknown, nameOf: (index: unknown) => string): unknown {
  return JSON.parse(JSON.stringify(item), (name, value) => {
    if (/^(linux_if_index|interface_index|parent_index|acl_index|bridge_domain_id)$/.test(name))
      return typeof value;
    if (/sw_if_in?de?x$|^SwIfIndex$|^OutgoingIfIdx$/.test(name)) return nameOf(value);
    if (name === 'internal_name') return value.replace(/[0-9]+$/, '');
    if (typeof value === 'string' && /^02:fe:|^Av[4567].{5}$/.test(value)) return 'random';
    return value;
  });
}
