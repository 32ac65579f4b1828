/** Rules at the input of interfaces that precede those for replies. */
import type { AclRule } from '#models/vpp/acl.ts';
import { type AddressSet, addressNumber } from '../address-set.ts';
import { type Isolation, isIsolated, permittedPorts } from '../pod-policy.ts';
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
  return services.filter(({ protocol, backends }) =>
    backends.some(({ address, port }) => {
      const number = addressNumber(address);
      if (number === undefined) return true;
      return !nodeAddresses.has(number) && !permittedPorts(egress, number).has(protocol, port);
    }),
  );
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
