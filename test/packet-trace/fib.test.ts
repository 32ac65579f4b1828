/** Route lookup, compared with a search over bit strings. */
import assert from 'node:assert/strict';
import { isIPv6, SocketAddress } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { findAddress, lookUp } from '#packet-trace/fib.ts';
import type { Device, Interface, Route } from '#packet-trace/snapshot.ts';

const widths = { 4: 32, 6: 128 } as const;
type Family = keyof typeof widths;

/** Only few bits differ, so that destinations are often nested. */
const bits = (family: Family) =>
  fc
    .array(fc.boolean(), { minLength: 5, maxLength: 5 })
    .map((some) => some.map(Number).join('').padEnd(widths[family], '0'));

function text(address: string): string {
  const numbers = (size: number) =>
    address.match(new RegExp(`.{${size}}`, 'g'))!.map((part) => Number.parseInt(part, 2));
  if (address.length === widths[4]) return numbers(8).join('.');
  const long = numbers(16)
    .map((part) => part.toString(16))
    .join(':');
  // Half of them in the short spelling.
  return address.endsWith('1')
    ? long
    : new SocketAddress({ address: long, family: 'ipv6' }).address;
}

/** Short lengths, so that the networks differ, and the two extremes. */
const lengths = (family: Family) => fc.constantFrom(0, 1, 2, 3, 4, 5, 6, widths[family]);

const destinations = fc
  .constantFrom<Family>(4, 6)
  .chain((family) => fc.record({ address: bits(family), length: lengths(family) }));

const routeArbitrary = fc.record({
  destination: destinations,
  table: fc.nat(1),
  preference: fc.nat(2),
  out: fc.constantFrom('one', 'two', 'down', 'nowhere'),
});

const ifaceArbitrary = fc.record({
  addresses: fc.array(destinations, { maxLength: 2 }),
  table: fc.nat(1),
});

type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
type Destination = Drawn<typeof destinations>;

function cidr({ address, length }: Destination): string {
  return `${text(address)}/${length}`;
}

function iface(name: string, up: boolean, { addresses, table }: Drawn<typeof ifaceArbitrary>) {
  const base = { mac: '', tunnel: undefined, isLoopback: false, key: '' };
  return { name, enabled: up, up, table, addresses: addresses.map(cidr), ...base };
}

function deviceOf(interfaces: readonly Interface[], routes: readonly Route[]): Device {
  return {
    name: 'r',
    forwards: true,
    interfaces: new Map(interfaces.map((one) => [one.name, one])),
    routes,
    neighbors: [],
    routesToNeighbors: true,
    bridges: [],
    otherAddresses: [],
    hasOtherRoutes: false,
  };
}

describe('the route of an address', () => {
  it('is the longest match among usable routes', () => {
    fc.assert(
      fc.property(
        fc.array(routeArbitrary, { maxLength: 12 }),
        ifaceArbitrary,
        ifaceArbitrary,
        fc.constantFrom<Family>(4, 6).chain(bits),
        fc.nat(1),
        (drawn, one, two, wanted, table) => {
          const routes = drawn.map(({ destination, out, ...rest }, index): Route => {
            const action = { kind: 'via', interface: out, nextHop: undefined } as const;
            return { destination: cidr(destination), action, key: String(index), ...rest };
          });
          const interfaces = [
            iface('one', true, one),
            iface('two', true, two),
            iface('down', false, { addresses: [], table: 0 }),
          ];
          const found = lookUp(deviceOf(interfaces, routes), table, text(wanted));

          const matches = ({ address, length }: Destination) =>
            address.length === wanted.length && wanted.startsWith(address.slice(0, length));
          const connected = [one, two].flatMap(({ addresses, table: own }) =>
            own === table ? addresses.filter(matches) : [],
          );
          const configured = drawn.filter(
            (route) => route.table === table && matches(route.destination),
          );
          const longest = Math.max(
            -1,
            ...[...connected, ...configured.map(({ destination }) => destination)].map(
              ({ length }) => length,
            ),
          );
          if (longest < 0) return assert.equal(found, undefined);
          assert.ok(found);
          assert.equal(Number(found.route.destination.split('/')[1]), longest);
          const networks = connected.filter(({ length }) => length === longest);
          if (networks.length > 0) {
            assert.equal(found.route.key, '');
            return assert.equal(found.paths, networks.length);
          }
          const equal = configured.filter(({ destination }) => destination.length === longest);
          const leading = equal.filter(({ out }) => out === 'one' || out === 'two');
          const counting = leading.length > 0 ? leading : equal;
          const best = Math.min(...counting.map(({ preference }) => preference));
          assert.equal(found.route.preference, best);
          const chosen = counting.filter(({ preference }) => preference === best);
          assert.equal(found.route.key, String(drawn.indexOf(chosen[0]!)));
          assert.equal(found.paths, leading.length > 0 ? chosen.length : 1);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('is not used for a local address of the same table', () => {
    fc.assert(
      fc.property(ifaceArbitrary, fc.constantFrom<Family>(4, 6).chain(bits), (one, wanted) => {
        const device = deviceOf([iface('one', true, one)], []);
        const has = one.addresses.some(({ address }) => address === wanted);
        assert.equal(findAddress(device, one.table, text(wanted))?.interface?.name === 'one', has);
        assert.equal(findAddress(device, one.table + 1, text(wanted)), undefined);
        assert.ok(isIPv6(text(wanted)) === (wanted.length === 128));
      }),
    );
  });
});
