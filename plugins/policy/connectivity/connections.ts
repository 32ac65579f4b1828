/** Permitted connections: who may reach whom on which ports. Computed while they are read: a cluster has many pairs. */
import { familyOf } from '../address-set.ts';
import { noRules, type PodPolicy, permittedPorts } from '../pod-policy.ts';
import { PortSet } from '../port-set.ts';
import { type Endpoint, type Endpoints, isOutside } from './endpoints.ts';

export interface Connection {
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly ports: PortSet;
}

/** A pair whose ports are different in two states. */
export interface ChangedConnection {
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly before: PortSet;
  readonly after: PortSet;
}

/**
 * The permitted connections of the first state, sorted by source and destination; connections between the pods of one
 * endpoint are among them. undefined stands for a denied one, so that the reader can interrupt long work.
 */
export function* connections(endpoints: Endpoints): Generator<Connection | undefined, void, void> {
  for (const [from, to] of pairs(endpoints)) {
    const ports = portsBetween(0, from, to);
    yield ports.isEmpty ? undefined : { from, to, ports };
  }
}

/** The differences between the first and the second state. undefined stands for a pair without one. */
export function* changedConnections(
  endpoints: Endpoints,
): Generator<ChangedConnection | undefined, void, void> {
  for (const [from, to] of pairs(endpoints)) {
    const before = portsBetween(0, from, to);
    const after = portsBetween(1, from, to);
    yield before.text === after.text ? undefined : { from, to, before, after };
  }
}

function* pairs({ sources, destinations }: Endpoints): Generator<[Endpoint, Endpoint], void, void> {
  for (const from of sources) {
    for (const to of destinations) {
      if (isOutside(from) && isOutside(to)) continue;
      // a pod always reaches itself
      if (from === to && (isOutside(from) || from.pods.length === 1)) continue;
      yield [from, to];
    }
  }
}

/** @param state its position */
function portsBetween(state: number, from: Endpoint, to: Endpoint): PortSet {
  const parties = partiesOf(state, from, to);
  return parties === undefined ? PortSet.none : permittedBetween(...parties);
}

/**
 * Sender and receiver of a state.
 * @returns undefined: one of them is not there
 */
export function partiesOf(
  state: number,
  from: Endpoint,
  to: Endpoint,
): readonly [Party, Party] | undefined {
  const sender = isOutside(from) ? outside(from.address) : from.policies[state];
  const receiver = isOutside(to) ? outside(to.address) : to.policies[state];
  return sender && receiver && [sender, receiver];
}

/** An end of a connection, with its policies. */
export type Party = Pick<PodPolicy, 'addresses' | 'ingress' | 'egress'>;

/** No policy applies to an address outside of the cluster. */
export function outside(address: Party['addresses'][number]): Party {
  return { addresses: [address], ingress: noRules, egress: noRules };
}

/** The ports of the receiver on which at least one of its addresses may be reached. */
export function permittedBetween(sender: Party, receiver: Party): PortSet {
  const permitted: PortSet[] = [];
  for (const source of sender.addresses) {
    for (const destination of receiver.addresses) {
      if (familyOf(source) !== familyOf(destination)) continue;
      const sent = permittedPorts(sender.egress, destination);
      if (!sent.isEmpty) permitted.push(sent.intersect(permittedPorts(receiver.ingress, source)));
    }
  }
  return PortSet.union(permitted);
}
