/** Allocation of the addresses of an attachment, or their acceptance from another IPAM, and what ends it. */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { RevertContext, UpdateContext } from '#plugins/controller/api/event-handler.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import { podIdText } from '#plugins/podmanager/api.ts';
import type { AddressPool } from './address-pool.ts';
import { familyOfAddress } from './address-pools.ts';
import { type Allocation, podRange } from './api.ts';
import type { AddressPlan } from './base-ipam.ts';
import { ExternalAddressError, externalAddress, findAddress } from './external-address.ts';
import { type IpamState, isInUse, type Owner } from './ipam-state.ts';
import { whyReserved } from './reserved-address.ts';

export const AddressesExhaustedError = defineError({
  name: 'AddressesExhaustedError',
  code: 'CV_IPAM_EXHAUSTED',
  remedy:
    'Move pods to other nodes, or configure a larger subnet for each node (podSubnetOneNodePrefixLen).',
});

interface PodAllocationDeps {
  readonly nodes: Pick<NodeSyncApi, 'thisNode' | 'allNodes'>;
  readonly families: AddressPlan['families'];
  readonly allocations: () => ReadonlyMap<string, Allocation>;
  readonly isExternal: () => boolean;
}

export class PodAllocation {
  readonly #deps: PodAllocationDeps;

  constructor(deps: PodAllocationDeps) {
    this.#deps = deps;
  }

  /** Allocates an address of each pool. @throws AddressesExhaustedError */
  async allocate(
    ctx: UpdateContext,
    state: IpamState,
    owner: Owner,
    pools: readonly AddressPool[],
  ): Promise<readonly string[]> {
    const addresses: string[] = [];
    const allocated: string[] = [];
    for (const pool of pools) {
      const next = pool.next();
      if (next !== undefined) {
        pool.continueAfter(next);
        pool.use(next);
        allocated.push(next);
      }
      const address = next ?? (await this.#reuse(ctx, state, owner, pool));
      if (address === undefined) {
        this.#recordBeforeCommit(ctx, state, owner, allocated);
        throw this.#exhausted(state, owner, pool);
      }
      addresses.push(address);
    }
    this.#recordBeforeCommit(ctx, state, owner, allocated);
    return addresses;
  }

  #exhausted({ owned, pools }: IpamState, { pod }: Owner, pool: AddressPool): CodedError {
    const isOfPool = (address: string): boolean => familyOfAddress(address) === pool.family;
    const inUse = [...owned.values()].flat().filter(isOfPool).length;
    const all = [...this.#deps.allocations().keys()];
    const reserved = all.filter((one) => pools.all.length === 1 || isOfPool(one)).length - inUse;
    return new AddressesExhaustedError(
      `no free address in ${pool}: ${inUse} are owned by pods, ` +
        `${reserved} are reserved because Pod records contain them`,
      { where: podIdText(pod) },
    );
  }

  /** One record after the other: each undoes writes with an unknown outcome first. */
  #recordBeforeCommit(
    ctx: UpdateContext,
    state: IpamState,
    owner: Owner,
    addresses: readonly string[],
  ): void {
    const { records } = state;
    const recorded = new Set<string>();
    const record = async (): Promise<void> => {
      for (const address of addresses) {
        await records.allocate(ctx, { address, ...owner });
        recorded.add(address);
      }
    };
    if (addresses.length > 0) ctx.beforeCommit(record());
    for (const address of addresses)
      ctx.onRevert(async (reverting) => {
        if (recorded.has(address)) await this.updateUse(reverting, state, address);
        // an address whose record could not be written is not used before a resync
        else records.forget(address, owner.attachment);
      });
  }

  /** Gives a reserved address to an attachment. @returns undefined: there is none */
  async #reuse(
    ctx: UpdateContext,
    state: IpamState,
    owner: Owner,
    pool: AddressPool,
  ): Promise<string | undefined> {
    const reused = await this.#reserved(ctx, state, owner, pool);
    if (reused !== undefined) ctx.onRevert((reverting) => this.updateUse(reverting, state, reused));
    return reused;
  }

  async #reserved(
    ctx: UpdateContext,
    state: IpamState,
    owner: Owner,
    pool: AddressPool,
  ): Promise<string | undefined> {
    const { records, podRecords } = state;
    // after a reboot most addresses may be reserved: a pod may get its own address again
    const podKey = resources.pod.key(owner.pod.name, owner.pod.namespace);
    for (const address of podRecords.onlyInRecord(podKey)) {
      if (isInUse(state, address) || !pool.contains(address)) continue;
      const record = { address, ...owner };
      const known = records.get(address);
      if (await (known ? records.replace(ctx, known, record) : records.create(ctx, record)))
        return address;
    }
    // without a record of its own, the address may be that of a pod of another node
    for (const known of records.inOrderOfRelease()) {
      const { address, pod } = known;
      if (isInUse(state, address) || !pool.isAllocatable(address)) continue;
      if (!(await records.replace(ctx, known, { address, ...owner }))) continue;
      ctx.log.info(
        { address, former: podIdText(pod), pod: podIdText(owner.pod) },
        'no address is free; allocating the one that was released longest ago',
      );
      return address;
    }
    return undefined;
  }

  /** That of the primary family is needed; one of the second is accepted if the other IPAM has allocated it. */
  async acceptExternal(
    ctx: UpdateContext,
    state: IpamState,
    data: string,
    owner: Owner,
    pools: readonly AddressPool[],
  ): Promise<readonly string[]> {
    const accepted: string[] = [];
    for (const { family } of pools) {
      const find = family === this.#deps.families()[0].family ? externalAddress : findAddress;
      const address = find(data, family);
      if (address === undefined) continue;
      await this.#acceptAddress(ctx, state, address, owner);
      accepted.push(address);
    }
    return accepted;
  }

  /**
   * Accepts an address from another IPAM, unless a node uses it. Two attachments cannot own one
   * address: the current owner keeps it until its DEL.
   */
  async #acceptAddress(
    ctx: UpdateContext,
    state: IpamState,
    address: string,
    owner: Owner,
  ): Promise<void> {
    const { records, pools } = state;
    const where = podIdText(owner.pod);
    const families = this.#deps.families();
    const reserved = whyReserved(address, families, this.#deps.nodes);
    const plan = families.find(({ family }) => family === familyOfAddress(address))!;
    if (reserved !== undefined) {
      const { first, last } = podRange(plan.podSubnetThisNode());
      throw new ExternalAddressError(
        `${address} is ${reserved}; pods can have ${first} to ${last}`,
        { where },
      );
    }
    const before = records.get(address);
    if (before && isInUse(state, address))
      throw new ExternalAddressError(`${address} is still owned by ${podIdText(before.pod)}`, {
        where,
      });
    if (!pools.contains(address))
      ctx.log.warn(
        { pod: where, address, podSubnet: plan.podSubnetThisNode() },
        'the address of the pod is outside of the pod subnet of this node',
      );
    await records.accept(ctx, { address, ...owner, external: true });
    ctx.onRevert((reverting) => this.updateUse(reverting, state, address));
  }

  /** Updates record and pool by the owner and the Pod records of an address. */
  async updateUse(ctx: RevertContext, state: IpamState, address: string): Promise<void> {
    const { records, podRecords, pools } = state;
    const external = this.#deps.isExternal() && records.get(address)?.external === true;
    if (isInUse(state, address) || (podRecords.has(address) && !external)) {
      pools.use(address);
      if (!isInUse(state, address)) await records.clearOwner(ctx, address);
      return;
    }
    if (records.has(address)) await records.delete(ctx, address);
    pools.release(address);
  }
}
