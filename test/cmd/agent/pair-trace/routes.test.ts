import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Value from 'typebox/value';
import { PairTrace } from '#documents/pair-trace.ts';
import type { PolicyPodDocument } from '#documents/policies.ts';
import type { RunningAgent } from '#test/cmd/agent/harness.ts';
import { startShop } from '#test/ui/support/shop.ts';

describe('GET /trace/pair', { timeout: 120_000 }, () => {
  let shop: RunningAgent;
  let pods: ReadonlyMap<string, string>;
  before(async () => {
    shop = await startShop();
    const { body } = await shop.get('/contiv/v1/ipam/allocations');
    const { Pods } = body as {
      Pods: { PodID: { Name: string; Namespace: string }; MainIP: string }[];
    };
    pods = new Map(Pods.map(({ PodID, MainIP }) => [`${PodID.Namespace}/${PodID.Name}`, MainIP]));
  });
  after(() => shop?.stop());

  const podOf = (workload: string): string =>
    [...pods.keys()].find((name) => name.startsWith(`${workload}-`))!;
  const ask = (query: Record<string, string>) =>
    shop.get(`/trace/pair?${new URLSearchParams(query)}`);
  const trace = async (query: Record<string, string>): Promise<PairTrace> => {
    const { status, body } = await ask(query);
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(Value.Check(PairTrace, body));
    return body as PairTrace;
  };
  const errorOf = async (query: Record<string, string>, status: number): Promise<string> => {
    const reply = await ask(query);
    assert.equal(reply.status, status);
    return JSON.stringify(reply.body);
  };

  for (const view of ['SB', 'NB'])
    it(`traces each backend of a service and its reply, in the view ${view}`, async () => {
      const from = podOf('storefront/web');
      const traced = await trace({ from, to: 'storefront/catalog', view });
      assert.equal(traced.verdict, 'delivered');
      assert.equal(traced.to.kind, 'service');
      assert.deepEqual(
        traced.paths.map(({ share }) => share),
        [0.5, 0.5],
      );
      for (const { trace: there, reply } of traced.paths) {
        const keys = there.hops.map(({ key }) => key);
        assert.ok(keys.includes('config/vpp/nat/v2/dnat44/storefront/catalog'), keys.join('\n'));
        assert.equal(reply?.verdict, 'delivered');
      }
      assert.match(traced.command, /^netctl trace storefront\/web-\S+ 10\.\S+ --to-port TCP\/80/);
    });

  it('names the policies that isolate, and the ACL that denies', async () => {
    const to = podOf('backoffice/ledger');
    const traced = await trace({ from: podOf('storefront/web'), to, 'to-port': 'TCP/5432' });
    assert.equal(traced.verdict, 'failed');
    const [path] = traced.paths;
    assert.equal(path?.trace.verdict, 'dropped');
    assert.equal(path.reply, null);
    const { body } = await shop.get(`/contiv/v1/policy/pods/${to}`);
    const { attachments } = body as PolicyPodDocument;
    const isolating = attachments[0]?.ingress.policies.join(', ');
    const { description } = path.trace.hops.at(-1)!;
    assert.ok(description.includes(`${to} is isolated for ingress by ${isolating}`), description);
    assert.match(description, /^dropped: no policy permits it.*; denied .* of ACL/);
    assert.match(path.trace.hops.at(-1)?.key ?? '', /^config\/vpp\/acls/);
  });

  it('refuses what it cannot trace', async () => {
    const from = podOf('storefront/web');
    assert.match(await errorOf({ from }, 400), /argument to is missing/);
    assert.match(await errorOf({ from, to: 'shop/none' }, 404), /no pod and no service/);
    assert.match(await errorOf({ from: 'shop/none', to: from }, 404), /no pod with an address/);
    assert.match(await errorOf({ from: '10.9.9.9', to: from }, 404), /is on another node/);
    assert.match(await errorOf({ from, to: from, 'to-port': '0' }, 400), /1 to 65535/);
    assert.match(await errorOf({ from, to: from, 'to-port': 'SCTP/1' }, 400), /UDP\/53/);
    assert.match(await errorOf({ from, to: from, view: 'x' }, 400), /SB or NB/);
    assert.match(
      await errorOf({ from, to: 'backoffice/orders' }, 400),
      /service backoffice\/orders has TCP\/7000, TCP\/7100/,
    );
  });

  it('lets one trace wait, and refuses others', async () => {
    const query = { from: podOf('storefront/web'), to: 'storefront/catalog' };
    const replies = await Promise.all(Array.from({ length: 6 }, () => ask(query)));
    const statuses = new Set(replies.map(({ status }) => status));
    assert.deepEqual(statuses, new Set([200, 503]));
    assert.equal((await ask(query)).status, 200);
  });
});
