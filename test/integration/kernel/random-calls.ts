/** Random calls of a network stack. */
import fc from 'fast-check';
import type { LinuxHost, NamespaceState, RouteScope } from '#linux/api.ts';
import { LinuxError } from '#linux/api.ts';

/** The calls of a network stack that read or change a namespace. */
export type Changes = Omit<
  LinuxHost,
  | 'namespaceIdentity'
  | 'namespaces'
  | 'bootId'
  | 'beginDeleteTap'
  | 'findLinks'
  | 'connections'
  | 'reportLinks'
>;

export interface Call {
  [fc.toStringMethod](): string;
  /** The namespaces that it touches. */
  readonly spaces: readonly number[];
  readonly text: string;
  readonly run: (host: Changes, paths: readonly string[]) => Promise<void>;
}

const named = (text: string) => ({ text, [fc.toStringMethod]: () => text });

const space = fc.constantFrom(0, 1);
const name = fc.constantFrom('a', 'b', 'c', 'lo');
const veth = fc.constantFrom('a', 'b', 'c');
const address = fc.constantFrom(
  '10.1.1.2/32',
  '10.1.1.2/24',
  '10.1.1.3/24',
  '10.1.2.3/16',
  'fd00::2/64',
  'fd00::2/128',
  'fd00::3/64',
);
const gateway = fc.constantFrom(undefined, '10.1.1.1', '10.1.1.2', '10.1.2.1');
const gateway6 = fc.constantFrom(undefined, 'fd00::1', 'fd00::2', 'fd01::1', 'fe80::1');
const host4 = fc.constantFrom('10.1.1.1', '10.1.1.9', 'fd00::1');
const mac = fc.constantFrom('02:fe:00:00:00:01', '02:fe:00:00:00:02', '01:00:00:00:00:01');

const route = fc.oneof(
  fc.record({
    destination: fc.constantFrom('10.1.1.1/32', '0.0.0.0/0', '10.9.0.0/16', '10.1.1.0/24'),
    device: veth,
    gateway,
    scope: fc.constantFrom<RouteScope>('global', 'link', 'host'),
    metric: fc.constantFrom(0, 5),
  }),
  fc.record({
    destination: fc.constantFrom('fd00::1/128', '::/0', 'fd09::/64', 'fd00::/64'),
    device: veth,
    gateway: gateway6,
    scope: fc.constant<RouteScope>('global'),
    metric: fc.constantFrom(0, 5),
  }),
);

function call<T>(
  what: string,
  parts: fc.Arbitrary<T>,
  run: (host: Changes, path: string, parts: T) => Promise<void>,
): fc.Arbitrary<Call> {
  return fc.tuple(space, parts).map(([at, values]) => ({
    spaces: [at],
    ...named(`${what} ${at} ${JSON.stringify(values)}`),
    run: (host, paths) => run(host, paths[at]!, values),
  }));
}

export const anyCall: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.tuple(space, space, veth, veth).map(([s, t, a, b]) => ({
      spaces: [s, t],
      ...named(`createVeth ${s} ${a} ${t} ${b}`),
      run: (host: Changes, paths: readonly string[]) =>
        host.createVeth({ namespace: paths[s], name: a }, { namespace: paths[t], name: b }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(space, space, veth, veth).map(([s, t, a, b]) => ({
      spaces: [s, t],
      ...named(`moveLink ${s} ${a} ${t} ${b}`),
      run: (host: Changes, paths: readonly string[]) =>
        host.moveLink({ namespace: paths[s], name: a }, { namespace: paths[t], name: b }),
    })),
  },
  {
    weight: 1,
    arbitrary: call('deleteLink', name, (host, at, link) => host.deleteLink(at, link)),
  },
  {
    weight: 5,
    arbitrary: call('setLink', fc.tuple(name, fc.boolean()), (host, at, [link, up]) =>
      host.setLink(at, link, { up }),
    ),
  },
  {
    weight: 1,
    arbitrary: call('setMac', fc.tuple(name, mac), (host, at, [link, to]) =>
      host.setLink(at, link, { mac: to }),
    ),
  },
  {
    weight: 1,
    arbitrary: call(
      'setMtu',
      fc.tuple(veth, fc.constantFrom(67, 1280, 1450, 65535, 65536)),
      (host, at, [link, mtu]) => host.setLink(at, link, { mtu }),
    ),
  },
  {
    weight: 5,
    arbitrary: call('addAddress', fc.tuple(name, address), (host, at, [link, text]) =>
      host.addAddress(at, link, text),
    ),
  },
  {
    weight: 2,
    arbitrary: call('deleteAddress', fc.tuple(name, address), (host, at, [link, text]) =>
      host.deleteAddress(at, link, text),
    ),
  },
  { weight: 6, arbitrary: call('addRoute', route, (host, at, r) => host.addRoute(at, r)) },
  {
    weight: 2,
    arbitrary: call('replaceRoute', route, (host, at, r) => host.replaceRoute(at, r)),
  },
  { weight: 2, arbitrary: call('deleteRoute', route, (host, at, r) => host.deleteRoute(at, r)) },
  {
    weight: 2,
    arbitrary: call('setNeighbor', fc.tuple(veth, host4), (host, at, [device, ip]) =>
      host.setNeighbor(at, { device, address: ip, mac: '02:fe:00:00:00:09' }),
    ),
  },
  {
    weight: 1,
    arbitrary: call('deleteNeighbor', fc.tuple(name, host4), (host, at, [device, ip]) =>
      host.deleteNeighbor(at, device, ip),
    ),
  },
  {
    weight: 1,
    arbitrary: call(
      'setSysctl',
      fc.tuple(fc.constantFrom('all', 'a', 'default'), fc.constantFrom('0', '1')),
      (host, at, [link, off]) => host.setSysctl(at, `net.ipv6.conf.${link}.disable_ipv6`, off),
    ),
  },
  {
    weight: 1,
    arbitrary: call(
      'setAlias',
      fc.tuple(veth, fc.constantFrom('', '/vnf-agent/node1/a/b')),
      (host, at, [link, alias]) => host.setLink(at, link, { alias }),
    ),
  },
  {
    weight: 1,
    arbitrary: call(
      'setChecksumOffload',
      fc.tuple(veth, fc.boolean(), fc.boolean()),
      (host, at, [link, rx, tx]) => host.setChecksumOffload(at, link, { rx, tx }),
    ),
  },
);

/** Consecutive calls on the same namespaces are made in one turn. */
export async function runAll(
  host: Changes,
  paths: readonly string[],
  calls: readonly Call[],
  pace: 'by turns' | 'one by one' = 'by turns',
) {
  const answers: string[] = [];
  for (let i = 0; i < calls.length; ) {
    const first = calls[i]!;
    let end = i + 1;
    while (
      pace === 'by turns' &&
      end < calls.length &&
      String(calls[end]!.spaces) === String(first.spaces)
    )
      end++;
    const settled = await Promise.allSettled(calls.slice(i, end).map((c) => c.run(host, paths)));
    for (const [k, outcome] of settled.entries()) {
      const answer =
        outcome.status === 'fulfilled'
          ? 'done'
          : outcome.reason instanceof LinuxError
            ? (outcome.reason.errno ?? outcome.reason.message)
            : String(outcome.reason);
      answers.push(`${calls[i + k]!.text}: ${answer}`);
    }
    i = end;
  }
  return { answers, states: await Promise.all(paths.map((path) => host.dump(path))) };
}

/** Without indexes and MACs that were not set, which are random. */
export function comparable(states: readonly NamespaceState[]) {
  return states.map((state) => ({
    ...state,
    links: state.links
      .map(({ index: _, peerIndex, mac: own, ...link }) => ({
        ...link,
        paired: peerIndex !== undefined,
        mac: own?.startsWith('02:fe:00:00:00:0') ? own : 'some',
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }));
}
