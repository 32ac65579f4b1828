/**
 * Compares packet traces with pings between all pairs of pods, hosts and a machine outside of two nodes
 * on a real VPP, as configured and after faults that were injected past the agents.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deviceByAddress } from '#packet-trace/cluster.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { traceText } from '#packet-trace/trace-text.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { snapshotOfDocuments } from '#test/packet-trace/document-snapshot.ts';
import { outsideDevice } from '#test/packet-trace/outside-device.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { fromAddress, fromPrefix, toMac } from '#vpp/binapi/addresses.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';
import { type ClusterNode, RealCluster } from '../support/cluster.ts';
import type { Sandbox } from '../support/sandbox.ts';
import type { Endpoint } from '../support/traffic.ts';

describe('packet trace', { skip: withoutNodes(), timeout: 240_000 }, () => {
  let cluster: RealCluster;
  let one: ClusterNode;
  let two: ClusterNode;
  let web: Sandbox;
  let db: Sandbox;
  let far: Sandbox;
  let ends: readonly Endpoint[];

  before(async () => {
    cluster = await RealCluster.create({ nodes: 2, links: 'VETH' });
    [one, two] = cluster.nodes as [ClusterNode, ClusterNode];
    [web, db, far] = [
      await one.node.pod('web'),
      await one.node.pod('db'),
      await two.node.pod('far'),
    ];
    ends = [web, db, far, one.host, two.host, cluster.outside];
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  async function snapshot(): Promise<Snapshot> {
    const documents = await Promise.all(
      cluster.nodes.map(async ({ node }) => {
        const { status, body } = await node.agent.get('/trace/node');
        assert.equal(status, 200);
        return body as NodeSnapshot;
      }),
    );
    const routes = cluster.nodes.map(({ id, nodeIp }) => [`10.1.${id}.0/24`, nodeIp] as const);
    const outside = outsideDevice(`${cluster.outside.address}/24`, routes);
    return snapshotOfDocuments(documents, [outside]);
  }

  /** Compares one ping of each pair with the traces there and back. @returns the pairs that fail */
  async function compare(): Promise<string[]> {
    const seen = await snapshot();
    const failing: string[] = [];
    const pairs = ends.flatMap((from) =>
      ends
        .filter((to) => to !== from)
        // Hosts and the outside have routes to each other that the agents do not manage.
        .filter((to) => isPod(from) || isPod(to))
        .map((to) => [from, to] as const),
    );
    await Promise.all(
      pairs.map(async ([from, to]) => {
        const says = arrives(seen, from.address, to.address);
        const does = await answers(from, to.address);
        assert.equal(says.arrives, does, `${from.address} to ${to.address}\n${says.text}`);
        if (!does) failing.push(`${from.address} > ${to.address}`);
      }),
    );
    return failing;
  }

  function isPod(end: Endpoint): boolean {
    return [web, db, far].includes(end as Sandbox);
  }

  /** Injects a fault past the agent, compares, and lets the agent reconcile. */
  async function broken(act: (client: BinapiClient) => Promise<unknown>): Promise<string[]> {
    await one.node.vpp.withClient(act);
    const failing = await compare();
    const { status } = await one.node.agent.post('/scheduler/downstream-resync');
    assert.equal(status, 200);
    assert.deepEqual(await compare(), []);
    return failing;
  }

  it('reports that all pairs are reachable', async () => {
    assert.deepEqual(await compare(), []);
  });

  it('finds that a neighbor serves as a route where the route is missing', async () => {
    const failing = await broken((client) => deleteRoute(client, `${db.address}/32`));
    assert.deepEqual(failing, []);
  });

  it('finds that route and neighbor of a pod are missing', async () => {
    const failing = await broken(async (client) => {
      await deleteRoute(client, `${db.address}/32`);
      await setNeighbor(client, db.address, undefined);
    });
    assert.ok(failing.includes(`${web.address} > ${db.address}`));
    assert.ok(!failing.includes(`${web.address} > ${far.address}`));
  });

  it('finds that the route to the other node is missing', async () => {
    const failing = await broken((client) => deleteRoute(client, `10.1.${two.id}.0/24`));
    assert.ok(failing.includes(`${web.address} > ${far.address}`));
    assert.ok(!failing.includes(`${web.address} > ${db.address}`));
  });

  it('finds that VPP encapsulates into a tunnel that is down', async () => {
    const failing = await broken(async (client) =>
      client.request('sw_interface_set_flags', {
        sw_if_index: await indexOf(client, /^vxlan_tunnel/),
        flags: 0,
      }),
    );
    assert.deepEqual(failing, []);
  });

  it('finds that the BVI of the tunnels is down', async () => {
    const failing = await broken(async (client) =>
      client.request('sw_interface_set_flags', {
        sw_if_index: await indexOf(client, /^vxlanBVI$/),
        flags: 0,
      }),
    );
    assert.ok(failing.includes(`${far.address} > ${web.address}`));
  });

  it('finds a wrong neighbor', async () => {
    const failing = await broken((client) => setNeighbor(client, db.address, '02:00:00:00:00:99'));
    assert.ok(failing.includes(`${web.address} > ${db.address}`));
  });

  it('finds that a pod was deleted', async () => {
    const { address } = db;
    assert.equal((await one.node.agent.delete(db)).result, 0);
    const seen = await snapshot();
    for (const from of [web, far, cluster.outside]) {
      assert.equal(arrives(seen, from.address, address).arrives, false);
      assert.equal(await answers(from, address), false);
    }
    ends = ends.filter((end) => end !== db);
    assert.deepEqual(await compare(), []);
  });
});

/** Whether the trace expects a reply to a ping. */
function arrives(
  seen: Snapshot,
  source: string,
  destination: string,
): { readonly arrives: boolean; readonly text: string } {
  const there = tracePacket(seen, deviceByAddress(seen, source)!, { source, destination });
  const end = deviceByAddress(seen, destination);
  if (there.verdict !== 'delivered' || end === undefined)
    return { arrives: false, text: traceText(there) };
  const back = tracePacket(seen, end, { source: destination, destination: source });
  return {
    arrives: back.verdict === 'delivered',
    text: `${traceText(there)}and back\n${traceText(back)}`,
  };
}

async function answers(from: Endpoint, address: string): Promise<boolean> {
  return from.run('ping', '-c', '3', '-i', '0.2', '-W', '1', address).then(
    () => true,
    () => false,
  );
}

const ALL = 0xffffffff;
const POD_TABLE = 1;

async function indexOf(client: BinapiClient, name: RegExp): Promise<number> {
  const found = await client.dump('sw_interface_dump', {
    sw_if_index: ALL,
    name_filter_valid: false,
    name_filter: '',
  });
  return found.find((one) => name.test(one.interface_name) || name.test(one.tag))!.sw_if_index;
}

/** As its source has put it: what the agent made goes. */
async function deleteRoute(client: BinapiClient, prefix: string): Promise<void> {
  const tables = await client.dump('ip_table_dump', {});
  const { table } = tables.find((one) => one.table.table_id === POD_TABLE && !one.table.is_ip6)!;
  const sources = await client.dump('fib_source_dump', {});
  const src = sources.find((one) => one.src.name === 'API')!.src.id;
  const routes = await client.dump('ip_route_v2_dump', { src, table });
  const found = routes.find((one) => fromPrefix(one.route.prefix) === prefix)!;
  const { src: _, ...route } = found.route;
  await client.request('ip_route_add_del', { is_add: false, is_multipath: false, route });
}

/** @param mac undefined: deleted */
async function setNeighbor(
  client: BinapiClient,
  address: string,
  mac: string | undefined,
): Promise<void> {
  const found = await client.dump('ip_neighbor_dump', { sw_if_index: ALL, af: 0 });
  const entry = found.find((one) => fromAddress(one.neighbor.ip_address) === address)!.neighbor;
  const neighbor = mac === undefined ? entry : { ...entry, mac_address: toMac(mac) };
  await client.request('ip_neighbor_add_del', { is_add: mac !== undefined, neighbor });
}
