/** Random services for tables of sockets: few addresses and backends, so that changes meet each other. */

import fc from 'fast-check';
import {
  type Destination,
  type Frontend,
  type FrontendScope,
  type NodeAddress,
  nodePortFrontend,
  reduceWeights,
  type SocketMapping,
  type SocketProtocol,
  type SocketService,
  type SocketTable,
} from '#linux/socket-services/api.ts';
import { unspecifiedOf } from '#models/ip.ts';

const SERVICES = 3;
const MAPPINGS = 2;
const families = [
  {
    name: 'IPv4',
    frontend: (service: number) => `10.96.0.${service}`,
    backend: '10.1.1.',
    nodes: ['172.16.0.1', '172.16.0.2'],
  },
  {
    name: 'IPv6',
    frontend: (service: number) => `fd96::${service}`,
    backend: 'fd10::',
    nodes: ['fd16::1', 'fd16::2'],
  },
] as const;
const protocols: readonly SocketProtocol[] = ['TCP', 'UDP'];
const BACKENDS = 4;
/**
 * Of one service and family: its address with two protocols and ports, its node port, and an address of a node with the node
 * port of the next service.
 */
const FRONTENDS = 7;
const scopes: readonly FrontendScope[] = ['THIS_NODE', 'OTHER_NODES'];

/** All backends. */
export const backendPlaces = families.flatMap(({ backend }) =>
  Array.from({ length: BACKENDS }, (_, at) => ({ address: `${backend}${at + 1}`, port: 8080 })),
);

interface Shape {
  /** Mapping of each frontend of a family; from `MAPPINGS` on: none. */
  readonly mappingOf: readonly number[];
  /** Weights of the backends of each mapping; 0: none of it. */
  readonly weights: readonly (readonly number[])[];
  readonly affinity: readonly number[];
}

const someShape: fc.Arbitrary<Shape> = fc.record({
  mappingOf: fc.array(fc.nat(MAPPINGS), { minLength: FRONTENDS, maxLength: FRONTENDS }),
  weights: fc.array(fc.array(fc.nat(3), { minLength: BACKENDS, maxLength: BACKENDS }), {
    minLength: MAPPINGS,
    maxLength: MAPPINGS,
  }),
  affinity: fc.array(fc.constantFrom(0, 0, 600), { minLength: MAPPINGS, maxLength: MAPPINGS }),
});

function nameOf(service: number): string {
  return `default/s${service}`;
}

/** A service, in one of four cases without mappings: it is to be deleted. Services have no address in common. */
export const someService: fc.Arbitrary<SocketService> = fc
  .record({
    service: fc.nat(SERVICES - 1),
    shapes: fc.tuple(someShape, someShape),
    isDeleted: fc.nat(3).map((number) => number === 0),
  })
  .map(({ service, shapes, isDeleted }) => ({
    name: nameOf(service),
    mappings: isDeleted ? [] : shapes.flatMap((shape, at) => mappings(service, at, shape)),
  }));

function frontendsOf(service: number, family: number): Frontend[] {
  const { frontend, nodes } = families[family]!;
  const [node = ''] = nodes;
  const portOf = (one: number): number => 30_000 + (one % SERVICES);
  return [
    ...protocols.flatMap((protocol) =>
      [80, 443].map(
        (port): Frontend => ({ address: frontend(service + 1), port, protocol, scope: 'ADDRESS' }),
      ),
    ),
    ...scopes.map(
      (scope): Frontend => ({
        address: unspecifiedOf(node),
        port: portOf(service),
        protocol: 'UDP',
        scope,
      }),
    ),
    { address: node, port: portOf(service + 1), protocol: 'UDP', scope: 'ADDRESS' },
  ];
}

function mappings(service: number, family: number, shape: Shape): SocketMapping[] {
  const { backend } = families[family]!;
  const frontends = frontendsOf(service, family);
  return shape.weights
    .map((weights, at) => ({
      frontends: frontends.filter((_one, number) => shape.mappingOf[number] === at),
      backends: weights.flatMap((weight, number) =>
        weight === 0 ? [] : [{ address: `${backend}${number + 1}`, port: 8080, weight }],
      ),
      affinityTimeout: shape.affinity[at]!,
      hostSource: shape.affinity[at] === 0 ? '' : families[family]!.nodes[0],
    }))
    .filter((mapping) => mapping.frontends.length > 0);
}

/** In one order, with the smallest weights. */
export function canonical(services: Iterable<SocketService>): unknown {
  return [...services]
    .map(({ name, mappings: all }) => ({ name, mappings: sorted(all.map(canonicalMapping)) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function canonicalMapping({ frontends, backends, affinityTimeout }: SocketMapping): unknown {
  return {
    frontends: sorted(frontends),
    backends: sorted(reduceWeights(backends)),
    affinityTimeout,
  };
}

function sorted<T>(list: readonly T[]): readonly T[] {
  return list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** An address of a node is that of one, or of none. */
export interface NodeChange extends NodeAddress {
  readonly isDeleted: boolean;
}

export type TableChange = SocketService | NodeChange;

export const someChange: fc.Arbitrary<TableChange> = fc.oneof(
  { weight: 3, arbitrary: someService },
  {
    weight: 1,
    arbitrary: fc.record({
      address: fc.constantFrom(...families.flatMap(({ nodes }) => nodes)),
      isLocal: fc.boolean(),
      isDeleted: fc.boolean(),
    }),
  },
);

export async function change(table: SocketTable, one: TableChange): Promise<void> {
  if ('mappings' in one) {
    if (one.mappings.length > 0) await table.put(one);
    else await table.delete(one.name);
  } else if (one.isDeleted) await table.deleteNodeAddress(one.address);
  else await table.putNodeAddress({ address: one.address, isLocal: one.isLocal });
}

/** Desired content of a table. */
export class DesiredTable {
  readonly services: ReadonlyMap<string, SocketService>;
  readonly nodes: ReadonlyMap<string, NodeAddress>;

  constructor(
    services: ReadonlyMap<string, SocketService> = new Map(),
    nodes: ReadonlyMap<string, NodeAddress> = new Map(),
  ) {
    this.services = services;
    this.nodes = nodes;
  }

  with(one: TableChange): DesiredTable {
    const [services, nodes] = [new Map(this.services), new Map(this.nodes)];
    if ('mappings' in one) {
      if (one.mappings.length > 0) services.set(one.name, one);
      else services.delete(one.name);
    } else if (one.isDeleted) nodes.delete(one.address);
    else nodes.set(one.address, { address: one.address, isLocal: one.isLocal });
    return new DesiredTable(services, nodes);
  }
}

export function destinationText({ protocol, address, port }: Destination): string {
  return `${protocol} ${address} ${port}`;
}

/** By text of a destination: a frontend has its own address, and those of nodes where no other one has them. */
export function atDestinations<T>(
  frontends: readonly (readonly [Frontend, T])[],
  nodes: Iterable<NodeAddress>,
): Map<string, T> {
  const all = [...nodes];
  const ofNodes = frontends.flatMap(([one, reached]) =>
    all
      .filter((node) => one.address === nodePortFrontend(node, one).address)
      .filter((node) => one.scope === nodePortFrontend(node, one).scope)
      .map(({ address }) => [destinationText({ ...one, address }), reached] as const),
  );
  const ofAddresses = frontends.filter(([{ scope }]) => scope === 'ADDRESS');
  return new Map([
    ...ofNodes,
    ...ofAddresses.map(([one, reached]) => [destinationText(one), reached] as const),
  ]);
}
