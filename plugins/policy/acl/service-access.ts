/**
 * Decisions about clients of services where their packets enter, before the translation: services at which VPP replaces the
 * client, because the table of a backend sees an address of VPP instead, and those that restrict their clients.
 */
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { ServiceName } from '#plugins/service/api.ts';
import { type AddressNumber, AddressSet } from '../address-set.ts';
import {
  type Isolation,
  isIsolated,
  type Permit,
  type PodPolicy,
  type PolicyName,
  permittedPorts,
} from '../pod-policy.ts';
import type { CheckedAddress } from '../rendered-state.ts';
import { mergedPermits } from './merged-permits.ts';
import { portsFor } from './permitted-ports.ts';

type Addresses = readonly CheckedAddress[];

/** An address that not every client may use: by its service, or because ingress policies isolate backends on this node. */
export interface GuardedAddress {
  readonly address: CheckedAddress;
  readonly backends: readonly IsolatedBackend[];
}

interface IsolatedBackend {
  readonly pod: PodPolicy;
  readonly port: number;
}

type ForbiddenBackends = WeakMap<
  readonly Permit[],
  WeakMap<CheckedAddress['backends'], readonly AddressNumber[]>
>;

const noAddresses: Addresses = [];
const noBackends: readonly AddressNumber[] = [];

export class ServiceAccess {
  readonly #services = new Map<ServiceName, Addresses>();
  readonly #byBackend = new Map<AddressNumber, Set<ServiceName>>();
  readonly #pods = new Map<AttachmentId, PodPolicy>();
  /** Pods of this node that ingress policies isolate, by address. */
  readonly #isolated = new Map<AddressNumber, PodPolicy>();
  /** Services with an address that not every client may use. */
  readonly #guarded = new Set<ServiceName>();
  /** Addresses that the pods of this node may not use; without empty lists. */
  readonly #denied = new Map<AttachmentId, Map<ServiceName, Addresses>>();
  /** Destinations that the pods of this node always reach. */
  #nodeAddresses = AddressSet.none;
  /** Backends that permits deny. */
  #forbidden: ForbiddenBackends = new WeakMap();

  /** With at least one address. */
  get services(): ReadonlyMap<ServiceName, Addresses> {
    return this.#services;
  }

  /** Nothing is decided again. */
  setNodeAddresses(addresses: AddressSet): void {
    this.#nodeAddresses = addresses;
    this.#forbidden = new WeakMap();
  }

  /** @param addresses empty: the service has none */
  setService(name: ServiceName, addresses: Addresses): void {
    for (const backend of backendsOf(this.#services.get(name))) {
      const names = this.#byBackend.get(backend);
      names?.delete(name);
      if (names?.size === 0) this.#byBackend.delete(backend);
    }
    if (addresses.length === 0) this.#services.delete(name);
    else this.#services.set(name, addresses);
    for (const backend of backendsOf(addresses)) {
      const names = this.#byBackend.get(backend);
      if (names) names.add(name);
      else this.#byBackend.set(backend, new Set([name]));
    }
    this.#setGuarded(name);
  }

  /**
   * @param pod undefined: it is not attached any more
   * @returns services that other pods may use now, or may not use any more
   */
  setPod(id: AttachmentId, pod: PodPolicy | undefined): ReadonlySet<ServiceName> {
    const before = this.#pods.get(id);
    if (pod === undefined) {
      this.#pods.delete(id);
      this.#denied.delete(id);
    } else this.#pods.set(id, pod);
    for (const address of before?.addresses ?? [])
      if (this.#isolated.get(address) === before) this.#isolated.delete(address);
    if (pod !== undefined && isIsolated(pod.ingress))
      for (const address of pod.addresses) this.#isolated.set(address, pod);
    const affected = new Set<ServiceName>();
    if (before?.ingress === pod?.ingress && before?.addresses === pod?.addresses) return affected;
    for (const address of [...(before?.addresses ?? []), ...(pod?.addresses ?? [])])
      for (const name of this.#byBackend.get(address) ?? []) affected.add(name);
    for (const name of affected) this.#setGuarded(name);
    return affected;
  }

  /** Decides about all services for a pod that has changed. */
  decideAll(id: AttachmentId): void {
    this.#denied.delete(id);
    const pod = this.#pods.get(id);
    if (pod !== undefined)
      this.decide(id, isIsolated(pod.egress) ? this.#services.keys() : this.#guarded);
  }

  /**
   * Decides again about services for a pod.
   * @returns whether the pod may use other addresses than before
   */
  decide(id: AttachmentId, services: Iterable<ServiceName>): boolean {
    const pod = this.#pods.get(id);
    if (pod === undefined) return false;
    const denied = this.#denied.get(id) ?? new Map<ServiceName, Addresses>();
    let isOther = false;
    for (const name of services) {
      const all = this.#services.get(name) ?? noAddresses;
      const now = all.filter((one) => this.#isDenied(pod, one));
      const before = denied.get(name) ?? noAddresses;
      isOther ||= !areSame(before, now);
      if (now.length > 0) denied.set(name, now);
      else denied.delete(name);
    }
    if (denied.size > 0) this.#denied.set(id, denied);
    else this.#denied.delete(id);
    return isOther;
  }

  /** The addresses that a pod of this node may not use, in the order of the names of their services. */
  deniedTo(id: AttachmentId): Addresses {
    return [...(this.#denied.get(id) ?? [])].sort(byName).flatMap(([, addresses]) => addresses);
  }

  /** Policies because of which a pod may not use addresses. */
  denyingPolicies(id: AttachmentId): ReadonlySet<PolicyName> {
    const policies = new Set(this.#pods.get(id)?.egress.policies);
    for (const address of this.deniedTo(id))
      for (const { pod } of this.#isolatedBackends(address))
        for (const policy of pod.ingress.policies) policies.add(policy);
    return policies;
  }

  /** In the order of the names of the services. */
  guarded(): readonly GuardedAddress[] {
    return [...this.#guarded].sort().flatMap((name) =>
      (this.#services.get(name) ?? noAddresses).flatMap((address) => {
        const backends = this.#isolatedBackends(address);
        return backends.length === 0 && address.clients === undefined
          ? []
          : [{ address, backends }];
      }),
    );
  }

  /** Whether a pod is a backend because of which clients are denied addresses. */
  isGuarded(id: AttachmentId): boolean {
    const pod = this.#pods.get(id);
    if (pod === undefined || !isIsolated(pod.ingress)) return false;
    return pod.addresses.some((address) => this.#byBackend.has(address));
  }

  #setGuarded(name: ServiceName): void {
    const addresses = this.#services.get(name) ?? noAddresses;
    const isGuarded = addresses.some(
      (one) => one.clients !== undefined || this.#isolatedBackends(one).length > 0,
    );
    if (isGuarded) this.#guarded.add(name);
    else this.#guarded.delete(name);
  }

  #isolatedBackends({ backends }: CheckedAddress): IsolatedBackend[] {
    return backends.flatMap(({ address, port }) => {
      const pod = this.#isolated.get(address);
      return pod === undefined ? [] : [{ pod, port }];
    });
  }

  #isDenied(pod: PodPolicy, address: CheckedAddress): boolean {
    const { clients } = address;
    if (clients !== undefined && !pod.addresses.some((from) => clients.has(from))) return true;
    // a pod always reaches itself
    if (this.#forbiddenBackends(pod.egress, address).some((one) => !pod.addresses.includes(one)))
      return true;
    const { protocol } = address;
    return this.#isolatedBackends(address).some(({ pod: backend, port }) => {
      if (backend === pod) return false;
      const permits = mergedPermits(backend.ingress.permits);
      return !pod.addresses.some((from) => portsFor(permits, from).has(protocol, port));
    });
  }

  /** A pod that may not reach each backend does not reach the service at all. */
  #forbiddenBackends(
    egress: Isolation,
    { backends, protocol }: CheckedAddress,
  ): readonly AddressNumber[] {
    if (!isIsolated(egress)) return noBackends;
    const known = this.#forbidden.get(egress.permits) ?? new WeakMap();
    this.#forbidden.set(egress.permits, known);
    const before: readonly AddressNumber[] | undefined = known.get(backends);
    if (before !== undefined) return before;
    const forbidden = backends.flatMap(({ address, port }) => {
      const isPermitted =
        this.#nodeAddresses.has(address) || permittedPorts(egress, address).has(protocol, port);
      return isPermitted ? [] : [address];
    });
    known.set(backends, forbidden);
    return forbidden;
  }
}

/** The clients that the service permits, and all backends of the address which policies of this node isolate. */
export function permittedClients(
  { address: { protocol, clients = AddressSet.any }, backends }: GuardedAddress,
  withoutPolicies: (ingress: Isolation) => Isolation,
): AddressSet {
  const permitted = backends.map(({ pod, port }) => {
    const permits = mergedPermits(withoutPolicies(pod.ingress).permits);
    const matching = permits.filter(({ ports }) => ports.has(protocol, port));
    return AddressSet.union(matching.map(({ peers }) => peers));
  });
  return permitted.reduce((common, one) => common.intersect(one), clients);
}

function* backendsOf(addresses: Addresses = noAddresses): Generator<AddressNumber, void, void> {
  for (const { backends } of addresses) for (const { address } of backends) yield address;
}

/** Whatever their backends are. */
function areSame(a: Addresses, b: Addresses): boolean {
  return (
    a.length === b.length &&
    a.every(({ address, port, protocol }, at) => {
      const other = b[at];
      return address === other?.address && port === other.port && protocol === other.protocol;
    })
  );
}

function byName([a]: readonly [ServiceName, Addresses], [b]: readonly [ServiceName, Addresses]) {
  return a < b ? -1 : a > b ? 1 : 0;
}
