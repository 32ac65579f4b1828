/** Builders for small snapshots. */
import type {
  Bridge,
  Device,
  Interface,
  Neighbor,
  Route,
  Snapshot,
} from '#packet-trace/snapshot.ts';
import type { PacketTrace } from '#packet-trace/tracer.ts';

export function iface(name: string, addresses: readonly string[], change: Partial<Interface> = {}) {
  const base = { table: 0, mac: '', tunnel: undefined, isLoopback: false, key: name };
  const isUp = change.up ?? true;
  return { name, addresses, enabled: isUp, up: isUp, ...base, ...change };
}

interface DeviceFields {
  readonly interfaces: readonly Interface[];
  readonly routes?: readonly Route[];
  readonly neighbors?: readonly Neighbor[];
  readonly bridges?: readonly Bridge[];
  readonly forwards?: boolean;
  readonly routesToNeighbors?: boolean;
}

export function device(name: string, parts: DeviceFields): Device {
  const { interfaces, routes = [], neighbors = [], bridges = [], forwards = true } = parts;
  const { routesToNeighbors = false } = parts;
  return {
    name,
    forwards,
    interfaces: new Map(interfaces.map((one) => [one.name, one])),
    routes,
    neighbors,
    routesToNeighbors,
    bridges,
    otherAddresses: [],
    hasOtherRoutes: false,
  };
}

/** @param wires such as `a.eth0-b.eth0`; a trailing `-` makes the wire open */
export function snapshot(devices: readonly Device[], ...wires: readonly string[]): Snapshot {
  return {
    devices: new Map(devices.map((one) => [one.name, one])),
    wires: wires.map((text) => ({
      ports: text
        .split('-')
        .filter(Boolean)
        .map((port) => {
          const [name = '', out = ''] = port.split('.');
          return { device: name, interface: out };
        }),
      isOpen: text.endsWith('-'),
    })),
  };
}

export function via(destination: string, out: string, nextHop?: string): Route {
  const action = { kind: 'via', interface: out, nextHop } as const;
  return { table: 0, destination, preference: 0, action, key: `to ${destination}` };
}

export function verdict({ verdict: said, hops }: PacketTrace): string {
  return `${said}: ${hops.at(-1)?.description}`;
}

export function members(...names: readonly string[]): Bridge['members'] {
  return names.map((name) => ({ interface: name, group: 0 }));
}
