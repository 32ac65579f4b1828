/** Rules at the input of interfaces that precede those for replies. */
import type { AclRule } from '#models/vpp/acl.ts';
import { type AddressSet, addressNumber } from '../address-set.ts';
import { type Isolation, isIsolated, type Permit, permittedPorts } from '../pod-policy.ts';
import type { OutsideService } from '../renderer.ts';
import {
  ANY_V4,
  ANY_V6,
  anyPacket,
  canonicalRule,
  tcpPackets,
  udpPackets,
} from './canonical-rule.ts';

export type DeniedDestination = Pick<OutsideService, 'address' | 'port' | 'protocol'>;

/**
 * Services of which a pod may not reach each backend: the pod does not reach them at all.
 * @param nodeAddresses destinations that the pods of this node always reach
 */
export function deniedServices(
  egress: Isolation,
  services: readonly OutsideService[],
  nodeAddresses: AddressSet,
): readonly DeniedDestination[] {
  if (!isIsolated(egress)) return [];
  const known = decisionsFor(egress.permits, nodeAddresses);
  return services.filter((service) => {
    const before = known.get(service);
    if (before !== undefined) return before;
    const isDenied = service.backends.some(({ address, port }) => {
      const number = addressNumber(address);
      if (number === undefined) return true;
      if (nodeAddresses.has(number)) return false;
      return !permittedPorts(egress, number).has(service.protocol, port);
    });
    known.set(service, isDenied);
    return isDenied;
  });
}

type Decisions = WeakMap<OutsideService, boolean>;

const decisions = new WeakMap<readonly Permit[], WeakMap<AddressSet, Decisions>>();

/** Kept as long as the permits and the addresses: a change of one service decides only about that one again. */
function decisionsFor(permits: readonly Permit[], nodeAddresses: AddressSet): Decisions {
  const byAddresses = decisions.get(permits) ?? new WeakMap<AddressSet, Decisions>();
  decisions.set(permits, byAddresses);
  const known = byAddresses.get(nodeAddresses) ?? new WeakMap<OutsideService, boolean>();
  byAddresses.set(nodeAddresses, known);
  return known;
}

export function deniedText(denied: readonly DeniedDestination[]): string {
  return denied.map(({ address, port, protocol }) => `${protocol} ${address} ${port}`).join();
}

export function deniedRules(denied: readonly DeniedDestination[]): AclRule[] {
  return denied.map(({ address, port, protocol }) => {
    const destination = { first: port, last: port };
    const match = protocol === 'TCP' ? tcpPackets({ destination }) : udpPackets({ destination });
    return isV6(address)
      ? canonicalRule('DENY', ANY_V6, `${address}/128`, match)
      : canonicalRule('DENY', ANY_V4, `${address}/32`, match);
  });
}

/** @param source network whose packets pass without a session; empty: none */
export function withoutSessionRules(source: string): AclRule[] {
  if (source === '') return [];
  return [canonicalRule('PERMIT', source, isV6(source) ? ANY_V6 : ANY_V4, anyPacket)];
}

function isV6(network: string): boolean {
  return network.includes(':');
}
