/** Assertions about who reaches whom. */
import assert from 'node:assert/strict';
import { both } from '#test/services/compliance/records.ts';
import type { Place, Protocol, ServiceCluster } from '#test/services/service-cluster.ts';

/** A pod or another place at one of its ports, or an address. */
export interface Destination {
  readonly at: Place | { readonly address: string };
  readonly port: number;
}

export interface Expectation {
  readonly from: Place;
  readonly to: Destination;
  readonly isReached: boolean;
  /** Default: TCP and UDP. */
  readonly protocols?: readonly Protocol[];
}

/** Asks all at a time: a connection that is denied ends only by its time limit. */
export async function assertReachability(
  cluster: ServiceCluster,
  expectations: readonly Expectation[],
): Promise<void> {
  const questions = expectations.flatMap(({ from, to, isReached, protocols = both }) =>
    protocols.map((protocol) => ({ from, to, isReached, protocol })),
  );
  const found = await Promise.all(
    questions.map(async ({ from, to, isReached, protocol }) => {
      const address = addressOf(cluster, to);
      const [answer] = await cluster.connect(from, { address, port: to.port, protocol });
      const text = `${nameOf(from)} to ${nameOf(to.at)} (${address}:${to.port}) over ${protocol}`;
      return (answer?.result === 'answered') === isReached ? [] : [`${text}: ${answer?.result}`];
    }),
  );
  assert.deepEqual(found.flat(), []);
}

function addressOf(cluster: ServiceCluster, { at }: Destination): string {
  return typeof at === 'object' && 'address' in at ? at.address : cluster.addressOf(at);
}

function nameOf(place: Destination['at']): string {
  return typeof place === 'string' ? place : Object.values(place).join();
}
