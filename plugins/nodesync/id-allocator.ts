/**
 * How a node comes to its ID. All addresses of its pods derive from the ID, so one that pods may
 * already use is never given up: it is also kept in the local store, and claimed again when the
 * cluster has lost it. If another node holds it by then, that is an alarm and not a reason to take
 * the next one.
 */
import type { KvStore } from '#datastore/api.ts';
import { type VppNode, vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import type { PortContext } from './api.ts';

const MAX_ATTEMPTS = 11;
const LOCAL_ID_KEY = 'local/nodesync/id';

export interface IdAllocatorDeps {
  readonly nodeName: string;
  /** Shared by all nodes. */
  readonly cluster: KvStore;
  /** Of this node alone; outlives the agent and the machine's boots. */
  readonly local: KvStore;
}

/** What live pods say about IDs, for the case that all records are lost. */
export interface IdsOfPods {
  /** Under which ID pods of this node have their addresses. */
  readonly here: number | undefined;
  readonly elsewhere: ReadonlySet<number>;
}

export interface AllocatedId {
  readonly id: number;
  /** Text of the record as it stands in the cluster; undefined when that is out of reach. */
  readonly text: string | undefined;
}

interface StoredRecord {
  readonly id: number;
  readonly text: string;
  /** undefined when the value cannot be read: the ID is taken all the same. */
  readonly value: VppNode | undefined;
}

/** Key of the record in the cluster's store. */
export function idRecordKey(id: number): string {
  return REFLECTOR_PREFIX + resources.vppnode.key(String(id), '');
}

/** Text of a record as the cluster's store has it. */
export function idRecordText(id: number, name: string, addresses: readonly string[]): string {
  return valueText(
    resources.vppnode,
    vppNodeModel.canonical({ id, name, ip_addresses: [...addresses] }),
  );
}

/** @returns undefined for a text that is no VppNode */
export function readIdRecord(text: string, key: string): VppNode | undefined {
  try {
    return vppNodeModel.parse(JSON.parse(text), key);
  } catch {
    return undefined;
  }
}

function allocationError(reason: string, cause?: unknown): Error {
  return new FatalError(`unable to allocate node ID: ${reason}`, { cause });
}

/** The alarm: both nodes have a right to the ID, and only a human can tell who keeps it. */
export function idConflictError(id: number, nodeName: string, holder: string): Error {
  return new FatalError(
    `pods of node ${nodeName} have addresses under node ID ${id}, but the cluster gives that ID to ` +
      `node ${holder}; drain one of the two and delete its record`,
    { where: idRecordKey(id) },
  );
}

/**
 * Finds or makes the claim of this node.
 * @param outOfReach the cluster's store is known not to answer: do not wait for it if need not be
 * @param pods asked only when neither the cluster nor the local store knows an ID of this node
 * @throws FatalError
 */
export async function allocateId(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  outOfReach: boolean,
  pods: () => IdsOfPods,
): Promise<AllocatedId> {
  const kept = await storedId(ctx, deps);
  if (kept !== undefined && outOfReach) return { id: kept, text: undefined };
  let claim: AllocatedId;
  try {
    claim = await allocateInCluster(ctx, deps, kept, pods);
  } catch (cause) {
    if (cause instanceof FatalError) throw cause;
    if (kept === undefined) throw allocationError('the database cannot be used', cause);
    ctx.log.warn({ err: cause, id: kept }, 'node ID is taken from the local store');
    return { id: kept, text: undefined };
  }
  // kept before anything derives from it
  if (claim.id !== kept) await storeId(ctx, deps, claim.id);
  return claim;
}

async function storedId(ctx: PortContext, deps: IdAllocatorDeps): Promise<number | undefined> {
  let text: string | null;
  try {
    text = await ctx.callPort(
      'local store/get node ID',
      async () => (await deps.local.get(LOCAL_ID_KEY)) ?? null,
    );
  } catch (cause) {
    throw allocationError('the local store cannot be read', cause);
  }
  if (text === null) return undefined;
  const kept = parseStoredId(text);
  if (kept?.name === deps.nodeName) return kept.id;
  ctx.log.error(
    { key: LOCAL_ID_KEY, text },
    'the local store has no node ID of this node; not used',
  );
  return undefined;
}

async function storeId(ctx: PortContext, deps: IdAllocatorDeps, id: number): Promise<void> {
  try {
    await ctx.callPort('local store/put node ID', () =>
      deps.local.put(LOCAL_ID_KEY, JSON.stringify({ id, name: deps.nodeName })),
    );
  } catch (cause) {
    throw allocationError('the local store cannot be written', cause);
  }
}

function parseStoredId(text: string): { readonly id: number; readonly name: string } | undefined {
  try {
    const { id, name } = JSON.parse(text) as { id?: unknown; name?: unknown };
    if (typeof id === 'number' && Number.isInteger(id) && id > 0 && typeof name === 'string')
      return { id, name };
  } catch {
    // what is no JSON is no ID either
  }
  return undefined;
}

async function allocateInCluster(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  kept: number | undefined,
  pods: () => IdsOfPods,
): Promise<AllocatedId> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const standing = await listRecords(ctx, deps);
    const own = [...standing.values()]
      .filter(({ value }) => value?.name === deps.nodeName)
      .sort((a, b) => a.id - b.id);
    const id = kept ?? own[0]?.id ?? unusedId(ctx, standing, pods());
    const claim = await takeId(ctx, deps, id, standing.get(id));
    if (claim) {
      await deleteStaleRecords(ctx, deps, own, id);
      return claim;
    }
    const holder = standing.get(id);
    if (kept !== undefined && holder)
      throw idConflictError(
        id,
        deps.nodeName,
        holder.value?.name ?? '(a record that cannot be read)',
      );
  }
  throw allocationError(`others were faster ${MAX_ATTEMPTS} times in a row`);
}

async function listRecords(
  ctx: PortContext,
  deps: IdAllocatorDeps,
): Promise<Map<number, StoredRecord>> {
  const prefix = REFLECTOR_PREFIX + resources.vppnode.keyPrefix;
  const entries = await ctx.callPort(
    'cluster store/list node IDs',
    async () => (await deps.cluster.list(prefix)).entries,
  );
  const standing = new Map<number, StoredRecord>();
  for (const { key, value: text } of entries) {
    const id = Number(resources.vppnode.parseKey(key.slice(REFLECTOR_PREFIX.length))?.name);
    if (!Number.isInteger(id)) continue;
    const value = readIdRecord(text, key);
    if (!value) ctx.log.warn({ key }, 'node record cannot be read; its ID counts as taken');
    standing.set(id, { id, text, value });
  }
  return standing;
}

function unusedId(
  ctx: PortContext,
  standing: ReadonlyMap<number, StoredRecord>,
  pods: IdsOfPods,
): number {
  if (pods.here !== undefined) {
    if (!standing.has(pods.here)) return pods.here;
    ctx.log.error(
      { id: pods.here, holder: standing.get(pods.here)?.value?.name },
      'pods of this node show addresses under a node ID that another node holds by now',
    );
  }
  let id = 1;
  while (standing.has(id) || pods.elsewhere.has(id)) id++;
  return id;
}

/** @returns undefined when the ID belongs to another node */
async function takeId(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  id: number,
  standing: StoredRecord | undefined,
): Promise<AllocatedId | undefined> {
  if (standing)
    return standing.value?.name === deps.nodeName ? { id, text: standing.text } : undefined;
  const key = idRecordKey(id);
  const text = idRecordText(id, deps.nodeName, []);
  const { created, value } = await ctx.callPort(`cluster store/put-if-absent ${key}`, () =>
    deps.cluster.putIfAbsent(key, text),
  );
  if (created || readIdRecord(value, key)?.name === deps.nodeName) return { id, text: value };
  return undefined;
}

/** Records of this node under IDs that it does not use; nobody else would ever delete them. */
async function deleteStaleRecords(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  own: readonly StoredRecord[],
  id: number,
): Promise<void> {
  for (const record of own) {
    if (record.id === id) continue;
    ctx.log.warn({ id: record.id, used: id }, 'a second node ID of this node is given up');
    await ctx.callPort(`cluster store/compare-and-delete ${idRecordKey(record.id)}`, () =>
      deps.cluster.compareAndDelete(idRecordKey(record.id), record.text),
    );
  }
}
