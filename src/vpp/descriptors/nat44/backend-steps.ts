/**
 * The change of the backends of a balanced mapping, one by one, so that sessions of the others continue.
 * VPP deletes the sessions of a backend that it removes, and cannot change the share of one that it has.
 */
import type { DNat44StaticMapping, DNat44StaticMappingLocalIP } from '#models/vpp/dnat44.ts';
import { backendEnd, MAX_BACKENDS, sharesOf } from './mapping.ts';

export interface BackendStep {
  readonly isAdd: boolean;
  /** Names it in its mapping. */
  readonly end: string;
  readonly local: DNat44StaticMappingLocalIP;
  readonly share: number;
}

/** Steps that must follow each other: a backend is removed, and one is added in its place. */
interface Move {
  readonly remove?: BackendStep;
  readonly add?: BackendStep;
}

/** VPP refuses a removal that leaves fewer. */
const MIN_BACKENDS = 2;

/** Without a share, VPP never chooses it. It makes up the number while one of two is replaced. */
const fillerLocal: DNat44StaticMappingLocalIP = {
  vrf_id: 0,
  local_ip: '0.0.0.0',
  local_port: 1,
  probability: 0,
};
const filler: BackendStep = {
  isAdd: true,
  end: backendEnd(fillerLocal),
  local: fillerLocal,
  share: 0,
};

/**
 * In an order in which the mapping always has two backends, one of them with a share, and never a sum of
 * shares that exceeds a byte: VPP divides by it.
 * @returns undefined if there is none, or if clients with affinity would be sent to a removed backend
 */
export function backendSteps(
  before: DNat44StaticMapping,
  after: DNat44StaticMapping,
): readonly BackendStep[] | undefined {
  const [old, fresh] = [sharesOf(before), sharesOf(after)];
  const removed = differing(before, old, fresh, false);
  const added = differing(after, fresh, old, true);
  if (removed.length + added.length === 0) return [];
  const moves = movesOf(removed, added, after.session_affinity !== 0);
  if (moves === undefined) return undefined;
  const schedule = new Schedule(old);
  const blocked = schedule.run(moves);
  if (blocked.length === 0) return schedule.steps;
  const keepsOne = [...fresh].some(([end, share]) => share > 0 && old.get(end) === share);
  if (!keepsOne || old.has(filler.end) || fresh.has(filler.end)) return undefined;
  schedule.run([{ add: filler }]);
  if (schedule.run(blocked).length > 0) return undefined;
  schedule.run([{ remove: { ...filler, isAdd: false } }]);
  return schedule.steps;
}

/** Steps for the backends that the other mapping does not have with this share. */
function differing(
  { local_ips }: DNat44StaticMapping,
  shares: ReadonlyMap<string, number>,
  others: ReadonlyMap<string, number>,
  isAdd: boolean,
): readonly BackendStep[] {
  const steps: BackendStep[] = [];
  let at = 0;
  // shares are in the order of the backends
  for (const [end, share] of shares) {
    const local = local_ips[at++];
    if (local !== undefined && others.get(end) !== share) steps.push({ isAdd, end, local, share });
  }
  return steps;
}

/**
 * Affinity binds a client to a position in VPP's list, which the next added backend takes. A position
 * that stays free would still lead to the removed backend.
 */
function movesOf(
  removed: readonly BackendStep[],
  added: readonly BackendStep[],
  hasAffinity: boolean,
): readonly Move[] | undefined {
  const again = new Map(added.map((add) => [add.end, add]));
  const changed: Move[] = [];
  const gone: BackendStep[] = [];
  for (const remove of removed) {
    const { end } = remove;
    const add = again.get(end);
    if (add === undefined) gone.push(remove);
    else changed.push({ remove, add });
    again.delete(end);
  }
  const come = [...again.values()];
  if (!hasAffinity) {
    const adds = come.map((add) => ({ add }));
    return [...adds, ...changed, ...gone.map((remove) => ({ remove }))];
  }
  const chosen = gone.filter(({ share }) => share > 0);
  if (chosen.length > come.length) return undefined;
  const pairs = come.map((add, at) => {
    const remove = chosen[at];
    return remove === undefined ? { add } : { remove, add };
  });
  const neverChosen = gone.filter(({ share }) => share === 0);
  return [...pairs, ...changed, ...neverChosen.map((remove) => ({ remove }))];
}

class Schedule {
  readonly steps: BackendStep[] = [];
  #count: number;
  #sum: number;

  constructor(shares: ReadonlyMap<string, number>) {
    this.#count = shares.size;
    this.#sum = 0;
    for (const share of shares.values()) this.#sum += share;
  }

  /** Takes each move as soon as it is possible. @returns those that never are */
  run(moves: readonly Move[]): readonly Move[] {
    const blocked = moves.filter((move) => !this.#take(move));
    return blocked.length === 0 || blocked.length === moves.length ? blocked : this.run(blocked);
  }

  #take({ remove, add }: Move): boolean {
    let [count, sum] = [this.#count, this.#sum];
    if (remove !== undefined) {
      count--;
      sum -= remove.share;
      if (count < MIN_BACKENDS || sum <= 0) return false;
    }
    if (add !== undefined) {
      count++;
      sum += add.share;
      if (count > MAX_BACKENDS || sum > MAX_BACKENDS) return false;
    }
    if (remove !== undefined) this.steps.push(remove);
    if (add !== undefined) this.steps.push(add);
    [this.#count, this.#sum] = [count, sum];
    return true;
  }
}
