/** A node with pods, whose VPP, pods and host are changed past the agent. */
import assert from 'node:assert/strict';
import { deviceByAddress } from '#packet-trace/cluster.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { traceText } from '#packet-trace/trace-text.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { snapshotOfDocuments } from '#test/packet-trace/document-snapshot.ts';
import { fromAddress, fromPrefix } from '#vpp/binapi/addresses.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';
import type { IpRoute } from '#vpp/binapi/messages.gen.ts';
import type { Links } from '../agent.ts';
import { RealNode } from '../node.ts';
import type { Sandbox } from '../sandbox.ts';
import { EchoServer, type Endpoint, echo } from '../traffic.ts';

const ALL = 0xffff_ffff;
const HOST_ADDRESS = '172.30.1.2';
export const POD_TABLE = 1;

/** The interfaces of VPP that changes apply to. */
export interface VppNames {
  /** VPP's names of the interfaces to the pods and the host. */
  readonly web: string;
  readonly db: string;
  readonly host: string;
  /** The loopback whose address the pods' interfaces borrow. */
  readonly gateway: string;
}

export class ManualChangeTestbed implements AsyncDisposable {
  readonly links: Links;
  readonly node: RealNode;
  readonly web: Sandbox;
  readonly db: Sandbox;
  readonly client: BinapiClient;
  readonly host: Endpoint;
  #servers: readonly EchoServer[] = [];

  static async create(links: Links): Promise<ManualChangeTestbed> {
    const node = await RealNode.create({ links });
    try {
      await node.agent.start();
      const pods = [await node.pod('web'), await node.pod('db')] as const;
      const testbed = new ManualChangeTestbed(links, node, pods, await node.vpp.client());
      const { db, host } = testbed;
      testbed.#servers = await Promise.all([db, host].map((end) => EchoServer.start(end)));
      return testbed;
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(
    links: Links,
    node: RealNode,
    [web, db]: readonly [Sandbox, Sandbox],
    client: BinapiClient,
  ) {
    this.links = links;
    this.node = node;
    this.web = web;
    this.db = db;
    this.client = client;
    const { netns } = node;
    const run: Endpoint['run'] = (...command) => netns.run(...command);
    this.host = { path: netns.path, address: HOST_ADDRESS, run };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
    await this.client.close();
    await this.node[Symbol.asyncDispose]();
  }

  async names(): Promise<VppNames> {
    const all = await this.#interfaces();
    const neighbors = await this.client.dump('ip_neighbor_dump', { sw_if_index: ALL, af: 0 });
    const ofPod = ({ address }: Sandbox): string => {
      const found = neighbors.find((one) => fromAddress(one.neighbor.ip_address) === address);
      return all.get(found?.neighbor.sw_if_index ?? ALL)?.interface_name ?? '';
    };
    const tagged = (pattern: RegExp): string =>
      [...all.values()].find(({ tag }) => pattern.test(tag))?.interface_name ?? '';
    const host = this.links === 'TAP' ? tagged(/^tap-vpp2$/) : 'host-vpp2';
    return { web: ofPod(this.web), db: ofPod(this.db), host, gateway: tagged(/^podGwLoop$/) };
  }

  async indexOf(name: string): Promise<number> {
    const found = [...(await this.#interfaces()).values()];
    const index = found.find(({ interface_name }) => interface_name === name)?.sw_if_index;
    assert.ok(index !== undefined, `VPP has no interface ${name}`);
    return index;
  }

  async #interfaces() {
    const all = await this.client.dump('sw_interface_dump', {
      sw_if_index: ALL,
      name_filter_valid: false,
      name_filter: '',
    });
    return new Map(all.map((one) => [one.sw_if_index, one]));
  }

  /** The route that the agent added. */
  async route(prefix: string): Promise<IpRoute> {
    const tables = await this.client.dump('ip_table_dump', {});
    const { table } = tables.find((one) => one.table.table_id === POD_TABLE && !one.table.is_ip6)!;
    const sources = await this.client.dump('fib_source_dump', {});
    const src = sources.find((one) => one.src.name === 'API')!.src.id;
    const routes = await this.client.dump('ip_route_v2_dump', { src, table });
    const { src: _, ...route } = routes.find(
      (one) => fromPrefix(one.route.prefix) === prefix,
    )!.route;
    return route;
  }

  async resync(): Promise<void> {
    const { status, body } = await this.node.agent.post('/scheduler/downstream-resync');
    assert.equal(status, 200, JSON.stringify(body));
  }

  /** Compares real pings of all pairs with the packet trace. @returns the pairs that fail */
  async compare(): Promise<string[]> {
    const ends = { web: this.web, db: this.db, host: this.host };
    const names = ['web', 'db', 'host'] as const;
    const snapshot = await this.#snapshot();
    const failing: string[] = [];
    await Promise.all(
      names.flatMap((from) =>
        names
          .filter((to) => to !== from)
          .map(async (to) => {
            const trace = expectation(snapshot, ends[from].address, ends[to].address);
            const isAnswered = await answers(ends[from], ends[to].address);
            const text = `${from} to ${to}: the trace disagrees with the ping\n${trace.text}`;
            assert.equal(trace.arrives, isAnswered, text);
            if (!isAnswered) failing.push(`${from} > ${to}`);
          }),
      ),
    );
    return failing.sort();
  }

  /** TCP between the pods, and between a pod and the host. */
  async transfers(): Promise<void> {
    await Promise.all([this.db, this.host].map((to) => echo(this.web, to.address)));
  }

  async #snapshot(): Promise<Snapshot> {
    const { status, body } = await this.node.agent.get('/trace/node');
    assert.equal(status, 200, JSON.stringify(body));
    return snapshotOfDocuments([body as NodeSnapshot]);
  }
}

/** Whether the trace expects a reply to a ping. */
function expectation(
  snapshot: Snapshot,
  source: string,
  destination: string,
): { readonly arrives: boolean; readonly text: string } {
  const start = deviceByAddress(snapshot, source);
  // an address that no device has cannot be the source of a packet
  if (start === undefined) return { arrives: false, text: `no device has ${source}` };
  const there = tracePacket(snapshot, start, { source, destination });
  const end = deviceByAddress(snapshot, destination);
  if (there.verdict !== 'delivered' || end === undefined)
    return { arrives: false, text: traceText(there) };
  const back = tracePacket(snapshot, end, { source: destination, destination: source });
  const text = `${traceText(there)}and back\n${traceText(back)}`;
  return { arrives: back.verdict === 'delivered', text };
}

async function answers(from: Endpoint, address: string): Promise<boolean> {
  const ping = ['ping', '-n', '-c', '3', '-i', '0.1', '-W', '0.4', '-I', from.address, address];
  return from.run(...ping).then(
    () => true,
    () => false,
  );
}
