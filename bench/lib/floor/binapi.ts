/** Requests over the binary API of a VPP: the client against a bare client in C and GoVPP. */
import { performance } from 'node:perf_hooks';
import { VppProcess } from '#test/integration/support/vpp-process.ts';
import { withoutCompiler, withoutGo, withoutVpp } from '#test/support/requirements.ts';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';
import type { Requests } from '#vpp/binapi/messages.gen.ts';
import { type Cost, ReferenceProgram } from '../reference-program.ts';
import { clientOf } from '../vpp-node.ts';
import { bareRequests, type Pinged, pings } from './bare-requests.ts';
import { inTurns, median, milliseconds, type Part, type Row, thousands } from './row.ts';

type RouteFields = Requests['ip_route_add_del']['request'];

/** Requests in flight. */
const WINDOW = 100;
const PINGS = 200_000;
const ROUTES = 20_000;

export const binapi: Part = {
  title: 'binary API',
  needs: () => withoutVpp() || withoutGo() || withoutCompiler(),
  rows,
};

async function* rows(): AsyncGenerator<Row> {
  const [bare, govpp] = [
    await ReferenceProgram.c<Pinged>('bare/binapi.c'),
    await ReferenceProgram.go('govpp'),
  ];
  const vpp = new VppProcess();
  await vpp.start();
  try {
    const through = await link(vpp);
    const bench = new Bench(vpp, bare, govpp, await clientOf(vpp.apiSocket), through);
    try {
      yield await bench.pings();
      yield await bench.routes();
      yield await bench.dump();
    } finally {
      await bench.client.close();
    }
  } finally {
    await vpp.remove();
  }
}

/** A loopback, through which the routes lead. @returns its index */
async function link(vpp: VppProcess): Promise<number> {
  await vpp.cli('create loopback interface');
  await vpp.cli('set interface state loop0 up');
  await vpp.cli('set interface ip address loop0 192.0.2.1/24');
  return vpp.withClient(async (client) => {
    const filter = { name_filter_valid: true, name_filter: 'loop0' };
    const [loopback] = await client.dump('sw_interface_dump', filter);
    return loopback!.sw_if_index;
  });
}

class Bench {
  readonly client: BinapiClient;
  readonly #socket: string;
  readonly #bare: ReferenceProgram<Pinged>;
  readonly #govpp: ReferenceProgram<Cost>;
  readonly #link: number;

  constructor(
    vpp: VppProcess,
    bare: ReferenceProgram<Pinged>,
    govpp: ReferenceProgram<Cost>,
    client: BinapiClient,
    link: number,
  ) {
    this.client = client;
    this.#socket = vpp.apiSocket;
    this.#bare = bare;
    this.#govpp = govpp;
    this.#link = link;
  }

  async pings(): Promise<Row> {
    const costs = await inTurns({
      bare: () => pings(this.#bare, this.#socket, PINGS, WINDOW),
      govpp: () => this.#govpp.run(this.#socket, 'ping', PINGS),
      ours: () => pipelined(PINGS, () => this.client.request('control_ping', {})),
    });
    return rates('control_ping', costs, PINGS, 0.8);
  }

  /** Adds routes; they are deleted between the rounds. */
  async routes(): Promise<Row> {
    const govpp = (work: 'add' | 'del') => this.#govpp.run(this.#socket, work, ROUTES, this.#link);
    const then = async (cost: Promise<Cost>): Promise<Cost> => {
      const result = await cost;
      await govpp('del');
      return result;
    };
    const message = {
      name: 'ip_route_add_del',
      fields: this.#route(0, true),
      counter: ADDRESS_OFFSET,
    };
    const costs = await inTurns({
      bare: () => then(bareRequests(this.#bare, this.#socket, message, ROUTES, WINDOW)),
      govpp: () => then(govpp('add')),
      ours: () =>
        then(
          pipelined(ROUTES, (i) => this.client.request('ip_route_add_del', this.#route(i, true))),
        ),
    });
    return rates('ip_route_add', costs, ROUTES, 0.6);
  }

  /** Both decode each route and keep none. */
  async dump(): Promise<Row> {
    await this.#govpp.run(this.#socket, 'add', ROUTES, this.#link);
    const costs = await inTurns({
      govpp: () => this.#govpp.run(this.#socket, 'dump', ROUTES),
      ours: () =>
        costOf(async () => {
          const table = { table_id: 0, is_ip6: false, name: '' };
          let found = 0;
          await this.client.dumpEach('ip_route_v2_dump', { src: 0, table }, () => found++);
          if (found < ROUTES) throw new Error(`the dump has ${found} routes`);
        }),
    });
    const [reference, own] = [elapsed(costs.govpp), elapsed(costs.ours)];
    return {
      name: `dump of ${thousands(ROUTES)} routes`,
      reference: `GoVPP ${milliseconds(reference)}`,
      ours: milliseconds(own),
      ratio: (own / reference).toFixed(2),
      target: '≤ GoVPP',
      met: own <= reference,
    };
  }

  /** 10.0.0.0/32, 10.0.0.1/32, …, as bench/reference/govpp makes them. */
  #route(i: number, isAdd: boolean): RouteFields {
    const prefix = toPrefix(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`);
    const nh = {
      address: Uint8Array.of(192, 0, 2, 2),
      via_label: 0,
      obj_id: 0,
      classify_table_index: 0,
    };
    const path = {
      sw_if_index: this.#link,
      table_id: 0,
      rpf_id: 0,
      weight: 1,
      preference: 0,
      type: 0,
      flags: 0,
      proto: 0,
      nh,
      n_labels: 0,
      label_stack: [],
    };
    const route = { table_id: 0, stats_index: 0, prefix, paths: [path] };
    return { is_add: isAdd, is_multipath: false, route } as RouteFields;
  }
}

/** Of the address in ip_route_add_del: ID, client index, context, two flags, table, counters, family. */
const ADDRESS_OFFSET = 2 + 4 + 4 + 1 + 1 + 4 + 4 + 1;

/** @param request sends the i-th request */
async function pipelined(count: number, request: (i: number) => Promise<unknown>): Promise<Cost> {
  let next = 0;
  const caller = async () => {
    while (next < count) await request(next++);
  };
  return costOf(() => Promise.all(Array.from({ length: WINDOW }, caller)));
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [start, startCpu] = [performance.now(), process.cpuUsage()];
  await work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(startCpu);
  return { ms, cpuMs: (user + system) / 1000 };
}

type Costs = Readonly<Record<'bare' | 'govpp' | 'ours', readonly Cost[]>>;

function rates(message: string, costs: Costs, count: number, share: number): Row {
  const rate = (list: readonly Cost[]) => (count / elapsed(list)) * 1000;
  const [bare, govpp, own] = [rate(costs.bare), rate(costs.govpp), rate(costs.ours)];
  return {
    name: `${message}, ${WINDOW} in flight`,
    reference: `bare ${thousands(bare)}/s; GoVPP ${thousands(govpp)}/s`,
    ours: `${thousands(own)}/s`,
    ratio: (own / bare).toFixed(2),
    target: `≥ ${share * 100} % of bare`,
    met: own >= share * bare,
  };
}

const elapsed = (costs: readonly Cost[]): number => median(costs.map(({ ms }) => ms));
