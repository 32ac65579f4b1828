/**
 * Decisions about clients of services where their packets enter, before the translation: services at which VPP replaces the
 * client, because the table of a backend sees an address of VPP instead, and those that restrict their clients.
 */
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { ServiceName } from '#plugins/service/api.ts';
import { type AddressNumber, AddressSet, familyOf } from '../address-set.ts';
import { isRestricted, type PodPolicy, type PolicyName, type RuleList } from '../pod-policy.ts';
import type { CheckedAddress } from '../rendered-state.ts';
import { egressDecisions, ingressDecisions, peersFor, portsFor } from './decisions.ts';

type Addresses = readonly CheckedAddress[];

/** An address that not every client may use: by its service, or because ingress policies restrict backends on this node. */
export interface GuardedAddress {
  readonly address: CheckedAddress;
  readonly backends: readonly RestrictedBackend[];
}

interface RestrictedBackend {
  readonly pod: PodPolicy;
  readonly port: number;
}

type ForbiddenBackends = WeakMap<
  RuleList,
  WeakMap<CheckedAddress['backends'], readonly AddressNumber[]>
>;

const noAddresses: Addresses = [];
const noBackends: readonly AddressNumber[] = [];

export class ServiceAccess {
  readonly #services = new Map<ServiceName, Addresses>();
  readonly #byBackend = new Map<AddressNumber, Set<ServiceName>>();
  readonly #pods = new Map<AttachmentId, PodPolicy>();
  /** Pods of this node that ingress policies restrict, by address. */
  readonly #restricted = new Map<AddressNumber, PodPolicy>();
  /** Services with an address that not every client may use. */
  readonly #guarded = new Set<ServiceName>();
  /** Addresses that the pods of this node may not use; without empty lists. */
  readonly #denied = new Map<AttachmentId, Map<ServiceName, Addresses>>();
  /** Destinations that NetworkPolicies let the pods of this node reach. */
  #nodeAddresses = AddressSet.none;
  /** Backends that egress policies deny. */
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
      if (this.#restricted.get(address) === before) this.#restricted.delete(address);
    if (pod !== undefined && isRestricted(pod.ingress))
      for (const address of pod.addresses) this.#restricted.set(address, pod);
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
      this.decide(id, isRestricted(pod.egress) ? this.#services.keys() : this.#guarded);
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
      for (const { pod } of this.#restrictedBackends(address))
        for (const policy of pod.ingress.policies) policies.add(policy);
    return policies;
  }

  /** In the order of the names of the services. */
  guarded(): readonly GuardedAddress[] {
    return [...this.#guarded].sort().flatMap((name) =>
      (this.#services.get(name) ?? noAddresses).flatMap((address) => {
        const backends = this.#restrictedBackends(address);
        return backends.length === 0 && address.clients === undefined
          ? []
          : [{ address, backends }];
      }),
    );
  }

  /** Whether a pod is a backend because of which clients are denied addresses. */
  isGuarded(id: AttachmentId): boolean {
    const pod = this.#pods.get(id);
    if (pod === undefined || !isRestricted(pod.ingress)) return false;
    return pod.addresses.some((address) => this.#byBackend.has(address));
  }

  #setGuarded(name: ServiceName): void {
    const addresses = this.#services.get(name) ?? noAddresses;
    const isGuarded = addresses.some(
      (one) => one.clients !== undefined || this.#restrictedBackends(one).length > 0,
    );
    if (isGuarded) this.#guarded.add(name);
    else this.#guarded.delete(name);
  }

  #restrictedBackends({ backends }: CheckedAddress): RestrictedBackend[] {
    return backends.flatMap(({ address, port }) => {
      const pod = this.#restricted.get(address);
      return pod === undefined ? [] : [{ pod, port }];
    });
  }

  #isDenied(pod: PodPolicy, address: CheckedAddress): boolean {
    const { clients } = address;
    const own = pod.addresses.filter((from) => isOfFamily(from, address));
    // it has no packets for the address
    if (own.length === 0) return false;
    if (clients !== undefined && !own.some((from) => clients.has(from))) return true;
    // a pod always reaches itself
    if (this.#forbiddenBackends(pod.egress, address).some((one) => !pod.addresses.includes(one)))
      return true;
    const { protocol } = address;
    return this.#restrictedBackends(address).some(({ pod: backend, port }) => {
      if (backend === pod) return false;
      const decisions = ingressDecisions(backend.ingress);
      return !own.some((from) => portsFor(decisions, from).has(protocol, port));
    });
  }

  /** A pod that may not reach each backend does not reach the service at all. */
  #forbiddenBackends(
    egress: RuleList,
    { backends, protocol }: CheckedAddress,
  ): readonly AddressNumber[] {
    if (!isRestricted(egress)) return noBackends;
    const known = this.#forbidden.get(egress) ?? new WeakMap();
    this.#forbidden.set(egress, known);
    const before: readonly AddressNumber[] | undefined = known.get(backends);
    if (before !== undefined) return before;
    const decisions = egressDecisions(egress, this.#nodeAddresses);
    const forbidden = backends.flatMap(({ address, port }) =>
      portsFor(decisions, address).has(protocol, port) ? [] : [address],
    );
    known.set(backends, forbidden);
    return forbidden;
  }
}

/** The clients that the service permits, and all backends of the address which policies of this node restrict. */
export function permittedClients(
  { address: { protocol, clients = AddressSet.any }, backends }: GuardedAddress,
  withoutPolicies: (ingress: RuleList) => RuleList,
): AddressSet {
  const permitted = backends.map(({ pod, port }) =>
    peersFor(ingressDecisions(withoutPolicies(pod.ingress)), protocol, port),
  );
  return permitted.reduce((common, one) => common.intersect(one), clients);
}

function* backendsOf(addresses: Addresses = noAddresses): Generator<AddressNumber, void, void> {
  for (const { backends } of addresses) for (const { address } of backends) yield address;
}

function isOfFamily(from: AddressNumber, { address }: CheckedAddress): boolean {
  return (familyOf(from) === 6) === address.includes(':');
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
