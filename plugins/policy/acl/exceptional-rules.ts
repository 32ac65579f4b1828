/** Rules at the input of interfaces that precede all others. */
import type { AclRule } from '#models/vpp/acl.ts';
import type { AddressSet } from '../address-set.ts';
import { PortSet, type ProtocolPorts, policyProtocols } from '../port-set.ts';
import type { CheckedAddress } from '../rendered-state.ts';
import { fragmentRules } from './acl-rules.ts';
import {
  ANY_V4,
  ANY_V6,
  anyPacket,
  canonicalRule,
  openingPackets,
  tcpPackets,
  udpPackets,
} from './canonical-rule.ts';
import { prefixLists } from './prefix-lists.ts';
import type { RuleSource } from './rule-lists.ts';

type ServiceAddress = Pick<CheckedAddress, 'address' | 'port' | 'protocol'>;

/** Ports of one address. */
export interface DeniedPorts {
  readonly address: string;
  readonly ports: PortSet;
}

/** Sorted by address. */
export function deniedPorts(denied: readonly ServiceAddress[]): readonly DeniedPorts[] {
  const byAddress = Map.groupBy(denied, ({ address }) => address);
  return [...byAddress]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([address, all]) => ({
      address,
      ports: PortSet.of(all.map(({ protocol, port }) => ({ protocol, first: port, last: port }))),
    }));
}

/** One range for each protocol, from the first to the last port: fewer rules, which deny more. */
export function widened({ address, ports }: DeniedPorts): DeniedPorts {
  const ranges = ports.ranges;
  const wide = policyProtocols.flatMap((protocol): ProtocolPorts[] => {
    const own = ranges.filter((range) => range.protocol === protocol);
    const [first, last] = [own[0]?.first, own.at(-1)?.last];
    return first === undefined || last === undefined ? [] : [{ protocol, first, last }];
  });
  return { address, ports: PortSet.of(wide) };
}

export function deniedRuleCount(denied: readonly DeniedPorts[]): number {
  return denied.reduce((sum, { ports }) => sum + ports.ranges.length, 0);
}

/** For a pod: it may not send to the ports. */
export function deniedRules(denied: readonly DeniedPorts[]): RuleSource {
  return {
    text: denied.map(({ address, ports }) => `${address} ${ports.text}`).join('; '),
    make: () =>
      denied.length === 0
        ? []
        : [
            ...fragmentRules,
            ...denied.flatMap(({ address, ports }) =>
              ports.ranges.map(({ protocol, first, last }) => {
                const destination = { first, last };
                const match =
                  protocol === 'TCP' ? tcpPackets({ destination }) : udpPackets({ destination });
                return canonicalRule('DENY', anyOf(address), hostNetwork(address), match);
              }),
            ),
          ],
  };
}

/** Clients that may open connections to the address of a service. */
export interface ClientRule {
  readonly address: ServiceAddress;
  readonly clients: AddressSet;
}

export function clientRuleCount(rules: readonly ClientRule[]): number {
  return rules.reduce((sum, rule) => sum + clientNetworks(rule).length + 1, 0);
}

/**
 * For clients that are no pods of this node. Of TCP only packets that open connections are denied: the others may be
 * replies to what this node has sent from the same port, with source NAT.
 */
export function clientRules(rules: readonly ClientRule[]): RuleSource {
  return {
    text: rules
      .map((rule) => {
        const { address, port, protocol } = rule.address;
        return `${protocol} ${address} ${port} for ${clientNetworks(rule).join()}`;
      })
      .join('; '),
    make: () => (rules.length === 0 ? [] : [...fragmentRules, ...rules.flatMap(rulesOf)]),
  };
}

function rulesOf(rule: ClientRule): AclRule[] {
  const { address, port, protocol } = rule.address;
  const destination = { first: port, last: port };
  const match = protocol === 'TCP' ? openingPackets({ destination }) : udpPackets({ destination });
  const to = hostNetwork(address);
  return [
    ...clientNetworks(rule).map((from) => canonicalRule('PERMIT', from, to, match)),
    canonicalRule('DENY', anyOf(address), to, match),
  ];
}

/** Of the family of the address. */
function clientNetworks({ address: { address }, clients }: ClientRule): readonly string[] {
  const { v4, v6 } = prefixLists(clients);
  return isV6(address) ? v6 : v4;
}

/** @param source network whose packets pass without a session */
export function withoutSessionRule(source: string): AclRule {
  return canonicalRule('PERMIT', source, anyOf(source), anyPacket);
}

function anyOf(network: string): string {
  return isV6(network) ? ANY_V6 : ANY_V4;
}

function hostNetwork(address: string): string {
  return isV6(address) ? `${address}/128` : `${address}/32`;
}

function isV6(network: string): boolean {
  return network.includes(':');
}
