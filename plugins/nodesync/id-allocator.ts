/**
 * Allocation of the node ID. All pod addresses of the node derive from the ID, so an ID that pods may
 * already use is never released: it is also stored in the local store, and written again if the
 * cluster has lost it, or has only an invalid record of it. If another node has it by then, that is
 * reported: this node keeps it, because its pods use it, and no other ID is allocated. A node without
 * pods has left the cluster before, and its ID was freed: it allocates another one. No pod survives a
 * reboot, so attachments that were recorded before it do not count.
 */
import type { KvStore } from '#datastore/api.ts';
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { hasReleaseMark, withoutReleaseMark } from '#kubernetes/models/release-mark.ts';
import { type VppNode, vppNodeModel, type Wireguard } from '#kubernetes/models/vpp-node.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { AbortEventError, causedError, FatalError } from '#plugins/controller/api/errors.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import { ATTACHMENT_PREFIX, recordedBootId } from '#plugins/podmanager/api.ts';
import type { PortContext } from './api.ts';
import type { IdsOfPods } from './ids-of-pods.ts';

export const NodeIdConflictError = defineError({
  name: 'NodeIdConflictError',
  code: 'CV_NODESYNC_ID_CONFLICT',
  isRetriable: false,
  remedy:
    'Drain one of the two nodes, delete its record under allocatedIDs and its local store, and restart its agent.',
});

const ALLOCATION_FAILED = 'unable to allocate node ID';
const MAX_ATTEMPTS = 11;
const LOCAL_ID_KEY = 'local/nodesync/id';

export interface IdAllocatorDeps {
  readonly nodeName: string;
  /** Store of the cluster, shared by all nodes. */
  readonly cluster: KvStore;
  /** Local store of this node; persists across restarts of the agent and reboots. */
  readonly local: KvStore;
  readonly host: Pick<HostPort, 'bootId'>;
}

/**
 * The content of the record of a node for the others. A record that lacks it, even for a moment, makes them remove their routes to this
 * node.
 */
export interface Announcement {
  /** Of its VPP. */
  readonly addresses: readonly string[];
  readonly wireguard: Wireguard | undefined;
}

const nothing: Announcement = { addresses: [], wireguard: undefined };

/** Known state of this node when its ID is allocated. */
export interface NodeState {
  readonly announced: Announcement;
  /** The ID is in use, and the event is no resync, which would recalculate what derives from it. */
  readonly keepsId: boolean;
  /** Called only if no ID of this node is known, or another node has it. */
  pods(): IdsOfPods;
  /** Why no node can have this ID or a higher one; undefined if it can. */
  whyUnusable(id: number): string | undefined;
}

export interface AllocatedId {
  readonly id: number;
  /** Text of the record in the cluster's store; undefined if the store is unavailable. */
  readonly text: string | undefined;
  /** Another node has the ID, too. */
  readonly conflict?: CodedError;
}

interface StoredRecord {
  readonly id: number;
  readonly text: string;
  /** undefined if the value is invalid; the ID is allocated nevertheless. */
  readonly value: VppNode | undefined;
}

/** Key of the record in the cluster's store. */
export function idRecordKey(id: number): string {
  return REFLECTOR_PREFIX + resources.vppnode.key(String(id), '');
}

/** Text of a record in the cluster's store. */
export function idRecordText(
  id: number,
  name: string,
  { addresses, wireguard }: Announcement = nothing,
): string {
  return valueText(
    resources.vppnode,
    vppNodeModel.canonical({
      id,
      name,
      ip_addresses: [...addresses],
      ...(wireguard && { wireguard }),
    }),
  );
}

/** @returns undefined for a text that is not a VppNode with a name */
export function readIdRecord(text: string, key: string): VppNode | undefined {
  try {
    const record = vppNodeModel.parseKnown(JSON.parse(text), key).value;
    return record.name === '' ? undefined : record;
  } catch {
    return undefined;
  }
}

/** Nothing is configured without an ID; the resync is repeated. */
function allocationError(reason: string): Error {
  return new AbortEventError(`${ALLOCATION_FAILED}: ${reason}`);
}

/** Two nodes use one ID, and only an operator can decide which one keeps it. */
export function idConflictError(id: number, nodeName: string, holder: string): CodedError {
  return new NodeIdConflictError(
    `pods of node ${nodeName} have addresses of node ID ${id}, but in the cluster that ID belongs to ` +
      `node ${holder}`,
    { where: idRecordKey(id) },
  );
}

/**
 * Finds or allocates the ID of this node.
 * @param unavailable the cluster's store is known to be unavailable: use the stored ID if there is one
 * @throws AbortEventError; FatalError if the local store cannot be read
 */
export async function allocateId(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  unavailable: boolean,
  node: NodeState,
): Promise<AllocatedId> {
  const storedLocally = await storedId(ctx, deps);
  if (storedLocally !== undefined && unavailable) return { id: storedLocally, text: undefined };
  let allocated: AllocatedId;
  try {
    allocated = await allocateInCluster(ctx, deps, storedLocally, node);
  } catch (cause) {
    if (cause instanceof AbortEventError) throw cause;
    if (storedLocally === undefined)
      throw causedError(AbortEventError, `${ALLOCATION_FAILED} in the database`, cause);
    ctx.log.warn({ err: cause, id: storedLocally }, 'using the node ID from the local store');
    return { id: storedLocally, text: undefined };
  }
  // stored before anything derives from it
  if (allocated.id !== storedLocally) await storeId(ctx, deps, allocated.id);
  return allocated;
}

async function storedId(ctx: PortContext, deps: IdAllocatorDeps): Promise<number | undefined> {
  let text: string | null;
  try {
    text = await ctx.callPort(
      'local store/get node ID',
      async () => (await deps.local.get(LOCAL_ID_KEY)) ?? null,
    );
  } catch (cause) {
    throw causedError(FatalError, 'cannot read the node ID from the local store', cause);
  }
  if (text === null) return undefined;
  const storedLocally = parseStoredId(text);
  if (storedLocally?.name === deps.nodeName) return storedLocally.id;
  ctx.log.error(
    { key: LOCAL_ID_KEY, text },
    'ignoring the node ID in the local store: it does not belong to this node',
  );
  return undefined;
}

async function storeId(ctx: PortContext, deps: IdAllocatorDeps, id: number): Promise<void> {
  try {
    await ctx.callPort('local store/put node ID', () =>
      deps.local.put(LOCAL_ID_KEY, JSON.stringify({ id, name: deps.nodeName })),
    );
  } catch (cause) {
    throw causedError(AbortEventError, `${ALLOCATION_FAILED}: cannot write the local store`, cause);
  }
}

function parseStoredId(text: string): { readonly id: number; readonly name: string } | undefined {
  try {
    const { id, name } = JSON.parse(text) as { id?: unknown; name?: unknown };
    if (typeof id === 'number' && Number.isInteger(id) && id > 0 && typeof name === 'string')
      return { id, name };
  } catch {
    // invalid JSON contains no ID
  }
  return undefined;
}

async function allocateInCluster(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  storedBefore: number | undefined,
  node: NodeState,
): Promise<AllocatedId> {
  let storedLocally = storedBefore;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const stored = await listRecords(ctx, deps);
    const own = [...stored.values()]
      .filter(({ value }) => value?.name === deps.nodeName)
      .sort((a, b) => a.id - b.id);
    const id = storedLocally ?? own[0]?.id ?? unusedId(ctx, stored, node);
    const isOwn = id === storedLocally;
    // other addresses may derive from another ID, which another node has now
    const text = idRecordText(id, deps.nodeName, isOwn ? node.announced : nothing);
    const allocated = await takeId(ctx, deps, { id, text, isOwn }, stored.get(id));
    if (allocated) {
      await deleteStaleRecords(ctx, deps, own, id);
      return allocated;
    }
    const holder = stored.get(id);
    if (isOwn && holder?.value && holder.value.name !== deps.nodeName) {
      if (!(await mayHavePods(ctx, deps, id, node))) {
        ctx.log.warn(
          { id, holder: holder.value.name },
          'another node has the former ID of this one, which has no pods; allocating another ID',
        );
        storedLocally = undefined;
        continue;
      }
      const conflict = idConflictError(id, deps.nodeName, holder.value.name);
      return { id, text: undefined, conflict };
    }
  }
  throw allocationError(`other nodes allocated the same ID first in ${MAX_ATTEMPTS} attempts`);
}

/** Whether pods of this node may have addresses that derive from the ID. */
async function mayHavePods(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  id: number,
  node: NodeState,
): Promise<boolean> {
  if (node.keepsId || node.pods().here === id) return true;
  return ctx.callPort('local store/has attachments', async () => {
    const { entries } = await deps.local.list(ATTACHMENT_PREFIX);
    const bootIds = entries.map(({ value }) => recordedBootId(value));
    // the attachment of an invalid record may be found in VPP
    return bootIds.includes(undefined) || bootIds.includes(await deps.host.bootId());
  });
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
  const stored = new Map<number, StoredRecord>();
  for (const { key, value: text } of entries) {
    const id = Number(resources.vppnode.parseKey(key.slice(REFLECTOR_PREFIX.length))?.name);
    if (!Number.isInteger(id)) continue;
    const value = readIdRecord(text, key);
    if (!value) ctx.log.warn({ key }, 'invalid node record; its ID is treated as allocated');
    stored.set(id, { id, text, value });
  }
  return stored;
}

function unusedId(
  ctx: PortContext,
  stored: ReadonlyMap<number, StoredRecord>,
  node: NodeState,
): number {
  const pods = node.pods();
  if (pods.here !== undefined) {
    if (!stored.has(pods.here)) return pods.here;
    ctx.log.error(
      { id: pods.here, holder: stored.get(pods.here)?.value?.name },
      'pods of this node have addresses of a node ID that another node has now',
    );
  }
  let id = 1;
  while (stored.has(id) || pods.elsewhere.has(id)) id++;
  const reason = node.whyUnusable(id);
  if (reason !== undefined) throw allocationError(`no ID is left: node ID ${id}: ${reason}`);
  return id;
}

interface IdClaim {
  readonly id: number;
  /** Text of the record if there is none yet. */
  readonly text: string;
  /** The local store shows that the ID belongs to this node: it replaces an invalid record. */
  readonly isOwn: boolean;
}

/** @returns undefined if the ID belongs to another node, or was written by another agent meanwhile */
async function takeId(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  { id, text, isOwn }: IdClaim,
  stored: StoredRecord | undefined,
): Promise<AllocatedId | undefined> {
  const key = idRecordKey(id);
  const swap = async (expected: string, wanted: string): Promise<AllocatedId | undefined> => {
    const swapped = await ctx.callPort(`cluster store/compare-and-swap ${key}`, () =>
      deps.cluster.compareAndSwap(key, expected, wanted),
    );
    return swapped ? { id, text: wanted } : undefined;
  };
  if (stored?.value) {
    if (stored.value.name !== deps.nodeName) return undefined;
    if (!hasReleaseMark(stored.text)) return { id, text: stored.text };
    // another agent is about to delete it, unless this write is first
    return swap(stored.text, withoutReleaseMark(stored.text));
  }
  if (stored) {
    if (!isOwn) return undefined;
    ctx.log.error({ key, text: stored.text }, 'replacing the invalid record of this node');
    return swap(stored.text, text);
  }
  const { created, value } = await ctx.callPort(`cluster store/put-if-absent ${key}`, () =>
    deps.cluster.putIfAbsent(key, text),
  );
  const isUsable = readIdRecord(value, key)?.name === deps.nodeName && !hasReleaseMark(value);
  return created || isUsable ? { id, text: value } : undefined;
}

/** Deletes records of this node with IDs that it does not use; others do only when it has left. */
async function deleteStaleRecords(
  ctx: PortContext,
  deps: IdAllocatorDeps,
  own: readonly StoredRecord[],
  id: number,
): Promise<void> {
  for (const record of own) {
    if (record.id === id) continue;
    ctx.log.warn(
      { id: record.id, used: id },
      'deleting the record of an unused node ID of this node',
    );
    await ctx.callPort(`cluster store/compare-and-delete ${idRecordKey(record.id)}`, () =>
      deps.cluster.compareAndDelete(idRecordKey(record.id), record.text),
    );
  }
}
