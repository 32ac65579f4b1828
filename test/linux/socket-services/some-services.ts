/** Random services for tables of sockets: few addresses and backends, so that changes meet each other. */

import fc from 'fast-check';
import type { SocketProtocol } from '#linux/socket-services/api.ts';
import {
  type Frontend,
  reduceWeights,
  type SocketMapping,
  type SocketService,
} from '#linux/socket-services/api.ts';

const SERVICES = 3;
const MAPPINGS = 2;
const families = [
  { name: 'IPv4', frontend: (service: number) => `10.96.0.${service}`, backend: '10.1.1.' },
  { name: 'IPv6', frontend: (service: number) => `fd96::${service}`, backend: 'fd10::' },
] as const;
const protocols: readonly SocketProtocol[] = ['TCP', 'UDP'];
const BACKENDS = 4;

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
  mappingOf: fc.array(fc.nat(MAPPINGS), { minLength: 4, maxLength: 4 }),
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

function mappings(service: number, family: number, shape: Shape): SocketMapping[] {
  const { frontend, backend } = families[family]!;
  const frontends = protocols.flatMap((protocol) =>
    [80, 443].map((port): Frontend => ({ address: frontend(service + 1), port, protocol })),
  );
  return shape.weights
    .map((weights, at) => ({
      frontends: frontends.filter((_one, number) => shape.mappingOf[number] === at),
      backends: weights.flatMap((weight, number) =>
        weight === 0 ? [] : [{ address: `${backend}${number + 1}`, port: 8080, weight }],
      ),
      affinityTimeout: shape.affinity[at]!,
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
