/**
 * Which service has an address, port and protocol that several services ask for. Cluster addresses and
 * node ports are allocated by Kubernetes, so that they are unique: they precede addresses that users
 * choose, or a user could take the traffic of any service. The scheduler keeps host ports of pods apart,
 * so they precede external IPs, which nothing checks. Then the older service precedes, then the first by
 * name; with host ports of pods, which have no time of creation, the first by name.
 */
import type { AddressKind, ServiceName } from '../rendered-service.ts';

export interface AddressClaim {
  readonly service: ServiceName;
  readonly kind: AddressKind;
  /** RFC 3339. */
  readonly created: string;
  /** Address, port and protocol. */
  readonly key: string;
}

const rank: Readonly<Record<AddressKind, number>> = {
  'cluster-ip': 0,
  'node-port': 1,
  'load-balancer': 2,
  'host-port': 3,
  'external-ip': 4,
};

function compareClaims(a: AddressClaim, b: AddressClaim): number {
  if (rank[a.kind] !== rank[b.kind]) return rank[a.kind] - rank[b.kind];
  if (a.created !== b.created) return a.created < b.created ? -1 : 1;
  return a.service < b.service ? -1 : 1;
}

export class AddressClaims {
  /** By key, the owner first. */
  readonly #claims = new Map<string, readonly AddressClaim[]>();
  readonly #byService = new Map<ServiceName, readonly AddressClaim[]>();

  /** The service that has the address. */
  ownerOf(key: string): ServiceName | undefined {
    return this.#claims.get(key)?.[0]?.service;
  }

  /**
   * Replaces all claims of a service.
   * @returns other services that ask for an address whose owner has changed
   */
  replace(service: ServiceName, claims: readonly AddressClaim[]): Set<ServiceName> {
    const affected = new Set<ServiceName>();
    const owners = new Map<string, ServiceName | undefined>();
    for (const { key } of this.#byService.get(service) ?? []) {
      owners.set(key, this.ownerOf(key));
      const rest = this.#claims.get(key)!.filter((one) => one.service !== service);
      if (rest.length > 0) this.#claims.set(key, rest);
      else this.#claims.delete(key);
    }
    for (const claim of claims) {
      if (!owners.has(claim.key)) owners.set(claim.key, this.ownerOf(claim.key));
      const others = this.#claims.get(claim.key);
      this.#claims.set(
        claim.key,
        others === undefined ? [claim] : [...others, claim].sort(compareClaims),
      );
    }
    if (claims.length > 0) this.#byService.set(service, claims);
    else this.#byService.delete(service);
    for (const [key, before] of owners) {
      if (this.ownerOf(key) === before) continue;
      for (const claim of this.#claims.get(key) ?? []) affected.add(claim.service);
    }
    affected.delete(service);
    return affected;
  }
}
