/** Random pods with policies, as the configurator hands them to a renderer. */
import fc from 'fast-check';
import { AddressSet, addressNumber } from '#plugins/policy/address-set.ts';
import {
  noRules as open,
  type PodPolicy,
  type PolicyRule,
  policyTiers,
  type RuleList,
} from '#plugins/policy/pod-policy.ts';
import { PortSet, type ProtocolPorts } from '#plugins/policy/port-set.ts';
import type { CheckedAddress, PolicyNode, RenderedPod } from '#plugins/policy/rendered-state.ts';

export const node: PolicyNode = {
  addresses: ['192.168.16.1', '172.30.1.1', '172.30.1.2', 'fd00:16::1'],
  natLoopbacks: ['10.1.1.254', 'fd00:1::ffff'],
  podSubnets: ['10.1.1.0/24', 'fd00:1::/64'],
  interfaces: ['vrfLink', 'vxlanBVI'],
  nics: ['uplink'],
  hostLink: 'tap-vpp2',
};

export const localAddresses = Array.from({ length: 8 }, (_, at) => `10.1.1.${at + 2}`);
export const otherAddresses = [
  '10.1.2.2',
  '10.1.2.3',
  '10.1.2.4',
  '192.0.2.1',
  '198.51.100.7',
  'fd00:2::2',
  '2001:db8::7',
];

/** Of the pods, the primary one first. */
export type Families = readonly (4 | 6)[];

export const families: fc.Arbitrary<Families> = fc.constantFrom<Families[]>(
  [4],
  [6],
  [4, 6],
  [6, 4],
);

/** The address of IPv6 of the pod with this address. */
function ipv6Of(address: string): string {
  return `fd00:1::${address.split('.').at(-1)}`;
}

const everything = {
  tier: 'NetworkPolicy',
  peers: AddressSet.any,
  ports: PortSet.any,
  policy: 'ns/p',
} as const;

/** By NetworkPolicies that accept what the rules say. */
export const isolatedBy = (
  policies: readonly string[],
  ...rules: readonly Partial<PolicyRule>[]
): RuleList => ({
  policies,
  rules: [
    ...rules.map((one, rule): PolicyRule => ({ ...everything, action: 'Accept', rule, ...one })),
    ...policies.map((policy): PolicyRule => ({ ...everything, action: 'Deny', policy })),
  ],
});

export const isolated = (...rules: readonly Partial<PolicyRule>[]): RuleList =>
  isolatedBy(['ns/p'], ...rules);

export { open };

export function podAt(
  address: string,
  ingress: RuleList = open,
  egress: RuleList = open,
  own: Families = [4],
): RenderedPod {
  const texts = own.map((family) => (family === 4 ? address : ipv6Of(address)));
  const policy: PodPolicy = {
    pod: `ns/pod-${address}`,
    addresses: texts.map((text) => addressNumber(text)!),
    ingress,
    egress,
  };
  return { policy, interface: interfaceOf(address) };
}

export function interfaceOf(address: string): string {
  return `vpp-tap-${address}`;
}

const cidrs = [
  ...localAddresses,
  ...otherAddresses,
  '10.1.1.0/29',
  '10.1.1.2/31',
  '10.1.0.0/16',
  '192.0.2.0/24',
  '0.0.0.0/0',
  '::/0',
  ...localAddresses.map(ipv6Of),
  'fd00:1::2/127',
  'fd00::/16',
  'fd00:1::/64',
];
export const testPorts = [1, 79, 80, 81, 443, 8080, 8090, 65_535];

const peers = fc.oneof(
  { weight: 4, arbitrary: fc.subarray(cidrs, { maxLength: 4 }).map((some) => AddressSet.of(some)) },
  { weight: 1, arbitrary: fc.constant(AddressSet.any) },
  {
    weight: 1,
    arbitrary: fc
      .subarray(localAddresses)
      .map((some) => AddressSet.any.minus(AddressSet.of([...some, ...some.map(ipv6Of)]))),
  },
);

const portRange = fc.tuple(
  fc.constantFrom('TCP' as const, 'UDP' as const),
  fc.constantFrom(...testPorts),
  fc.constantFrom(0, 1, 10),
);
const ports = fc.oneof(
  { weight: 1, arbitrary: fc.constant(PortSet.any) },
  {
    weight: 4,
    arbitrary: fc
      .array(
        fc.oneof(
          {
            weight: 6,
            arbitrary: portRange.map(([protocol, first, more]) => ({
              protocol,
              first,
              last: first + more,
            })),
          },
          {
            weight: 1,
            arbitrary: fc
              .constantFrom('TCP' as const, 'UDP' as const, 'SCTP' as const)
              .map((protocol) => ({ protocol, first: 1, last: 65_535 })),
          },
        ),
        { maxLength: 3 },
      )
      .map((ranges: ProtocolPorts[]) => PortSet.of(ranges)),
  },
);

/** Of all tiers. */
const tiered: fc.Arbitrary<RuleList> = fc
  .tuple(
    fc.option(
      fc.array(fc.record({ peers, ports }), { maxLength: 3 }).map((all) => isolated(...all)),
      { nil: open },
    ),
    ...(['Admin', 'Baseline'] as const).map((tier) =>
      fc.array(
        fc
          .record({
            peers,
            ports,
            action: fc.constantFrom('Accept' as const, 'Deny' as const, 'Pass' as const),
            policy: fc.constantFrom('p1', 'p2'),
          })
          .map((one, at = 0): PolicyRule => ({ ...one, tier, rule: at })),
        { maxLength: 4 },
      ),
    ),
  )
  .map(([own, ...others]) => {
    const all = [...own.rules, ...others.flat()];
    return {
      policies: [...new Set(all.map(({ policy }) => policy))],
      rules: policyTiers.flatMap((tier) => all.filter((rule) => rule.tier === tier)),
    };
  });

const ruleList: fc.Arbitrary<RuleList> = fc.oneof(
  { weight: 2, arbitrary: tiered },
  { weight: 1, arbitrary: fc.constant(open) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.record({ peers, ports }), { maxLength: 4 })
      .map((all) => isolated(...all)),
  },
);

export const pod = (address: string, own: Families): fc.Arbitrary<RenderedPod> =>
  fc.tuple(ruleList, ruleList).map(([ingress, egress]) => podAt(address, ingress, egress, own));

/** Of the same families. */
export const pods: fc.Arbitrary<ReadonlyMap<string, RenderedPod>> = fc
  .tuple(fc.subarray(localAddresses, { minLength: 1 }), families)
  .chain(([some, own]) => fc.tuple(...some.map((one) => pod(one, own))))
  .map((all) => new Map(all.map((one, at) => [`c${at}/${one.interface}`, one])));

const backends = fc
  .uniqueArray(fc.constantFrom(...localAddresses, ...otherAddresses, node.addresses[0]!), {
    minLength: 1,
    maxLength: 3,
  })
  .chain((some) =>
    fc
      .tuple(...some.map(() => fc.constantFrom(80, 8080)))
      .map((ports) =>
        some.map((text, at) => ({ address: addressNumber(text)!, port: ports[at]! })),
      ),
  );

/** The addresses of a service whose clients are checked. */
const checked = (address: string): fc.Arbitrary<readonly CheckedAddress[]> =>
  fc
    .record({
      tcp: fc.option(backends, { nil: [] }),
      udp: fc.option(backends, { nil: [] }),
      clients: fc.option(fc.subarray([...localAddresses, ...otherAddresses]), { freq: 2 }),
    })
    .map(({ tcp, udp, clients }) =>
      [...[address, node.addresses[0]!].entries()].flatMap(([at, one]) => {
        const port = at === 0 ? 80 : 30_000 + Number(address.split('.').at(-1));
        return [
          { address: one, port, protocol: 'TCP' as const, backends: tcp },
          { address: one, port, protocol: 'UDP' as const, backends: udp },
        ].flatMap((found): CheckedAddress[] => {
          if (clients !== null && at === 0) return [{ ...found, clients: AddressSet.of(clients) }];
          return found.backends.length > 0 ? [found] : [];
        });
      }),
    );

const serviceAddresses = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];

/** Services by name; each has the same addresses, whatever its backends are. */
export const someService: fc.Arbitrary<readonly [string, readonly CheckedAddress[]]> = fc
  .constantFrom(...serviceAddresses)
  .chain((address) => fc.tuple(fc.constant(`ns/${address}`), checked(address)));

export const services: fc.Arbitrary<ReadonlyMap<string, readonly CheckedAddress[]>> = fc
  .array(someService, { maxLength: 4 })
  .map((all) => new Map(all));
