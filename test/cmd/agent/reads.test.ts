/** Routes that read change neither VPP nor Linux, whatever they find there. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import type { OpenApiDocument } from '#infra/http/openapi.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { VppRequest } from '#simulator/vpp/vpp.ts';
import { isReading } from '#test/descriptors/compliance/faulty-client.ts';
import { startShop } from '#test/ui/support/shop.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import type { RunningAgent } from './harness.ts';
import { post } from './local-request.ts';

const NONE = 0xffff_ffff;
/** The name of the link that the agent moves into each pod. */
const POD_LINK = 'eth0';

const linuxReads = ['dump', 'namespaceIdentity', 'namespaces', 'bootId', 'reportLinks'];

interface Difference {
  readonly Difference: string;
  readonly Key: string;
}

describe('routes that read', { timeout: 120_000 }, () => {
  let shop: RunningAgent;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());

  const drift = async (): Promise<readonly Difference[]> => {
    const { status, body } = await shop.get('/scheduler/drift');
    assert.equal(status, 200);
    return (body as { Differences: Difference[] }).Differences;
  };
  const operations = async (): Promise<readonly string[]> => {
    const { body } = await shop.get('/scheduler/txn-history?format=json');
    const planned = (body as { Planned?: { Key: string }[] }[]).at(-1)?.Planned ?? [];
    return planned.map(({ Key }) => Key);
  };

  it('change nothing, and the drift lists what the next resync plans', async () => {
    assert.deepEqual(await drift(), []);
    await damage(shop);
    const { linux, vpp } = shop.node;
    vpp.requests.length = 0;
    linux.operations.length = 0;

    const { body } = await shop.get('/openapi.json');
    const { paths } = body as OpenApiDocument;
    const routes = Object.keys(paths).filter((path) => 'get' in (paths[path] ?? {}));
    assert.ok(routes.length > 30);
    const queries = [
      '',
      '?view=SB&descriptor=vpp-interface',
      '?view=SB&descriptor=linux-interface',
    ];
    for (const route of routes)
      for (const query of route === '/scheduler/dump' ? queries : [''])
        await visit(`http://127.0.0.1:${shop.agent.port}${route.replaceAll(/[{}]/g, '')}${query}`);
    const pods = (await shop.get('/contiv/v1/ipam/allocations')).body as {
      Pods: { PodID: { Name: string; Namespace: string } }[];
    };
    const names = pods.Pods.map(({ PodID: { Name, Namespace } }) => `${Namespace}/${Name}`);
    const pair = new URLSearchParams({ from: names[0]!, to: names[1]!, view: 'SB' });
    assert.equal((await shop.get(`/trace/pair?${pair}`)).status, 200);
    const shown = await drift();
    assert.ok(shown.some(({ Difference }) => Difference === 'broken'));
    assert.ok(shown.some(({ Key }) => Key.startsWith('leftover/vpp-interface/tag/')));

    assert.deepEqual(vpp.requests.filter(isChange), []);
    const operated = linux.operations.filter(({ name }) => !linuxReads.includes(name));
    assert.deepEqual(operated, []);

    assert.equal((await post(shop.localSocket, '/scheduler/downstream-resync')).status, 200);
    const planned = await operations();
    for (const { Key } of shown) assert.ok(planned.includes(Key), Key);
    assert.deepEqual(await drift(), []);
  });
});

function isChange({ kind, name, fields }: VppRequest): boolean {
  if (kind === 'dump' || isReading(name)) return false;
  return name !== 'cli_inband' || !(fields as { cmd: string }).cmd.startsWith('show ');
}

/** Reads a document; a stream of events has no end. */
async function visit(url: string): Promise<void> {
  const reply = await fetch(url);
  if (reply.headers.get('content-type')?.startsWith('text/event-stream'))
    await reply.body?.cancel();
  else await reply.arrayBuffer();
}

/** Deletes the link of one pod, and gives the interface of another one a wrong tag. */
async function damage({ node }: RunningAgent): Promise<void> {
  const needs = { clock: systemClock, random: systemRandom, log: silentLogger };
  const client = new BinapiClient({ connect: node.vpp.connect(), ...needs });
  client.start();
  await client.whenConnected();
  const all = await client.dump('sw_interface_dump', {
    sw_if_index: NONE,
    name_filter_valid: false,
    name_filter: '',
  });
  const tap = all.find(({ tag, interface_dev_type }) => /pod|tap-/.test(tag) && interface_dev_type);
  assert.ok(tap);
  const { sw_if_index } = tap;
  const fields = { is_add: true, sw_if_index, tag: `${tap.tag} and more` };
  await client.request('sw_interface_tag_add_del', fields);
  await client.close();
  for (const namespace of await node.linux.namespaces()) {
    const { links } = await node.linux.dump(namespace);
    if (!links.some(({ name }) => name === POD_LINK)) continue;
    await node.linux.deleteLink(namespace, POD_LINK);
    return;
  }
  assert.fail('no pod has a link');
}
