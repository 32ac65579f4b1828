/**
 * Fault injection: faults that are planned for one of the next operations. Used by the simulated
 * kernel and the simulated VPP. Counting starts when the fault is planned.
 */
interface Planned<Operation, Fault> {
  left: number;
  readonly fault: Fault;
  readonly matches: (operation: Operation) => boolean;
}

export class FaultPlan<Operation, Fault> {
  #planned: Planned<Operation, Fault>[] = [];

  /** @param nth 1 is the next matching operation */
  add(nth: number, fault: Fault, matches: (operation: Operation) => boolean = () => true): void {
    this.#planned.push({ left: nth, fault, matches });
  }

  clear(): void {
    this.#planned = [];
  }

  /** Call once per operation. @returns the first planned fault that is due for it */
  next(operation: Operation): Fault | undefined {
    let hit: Planned<Operation, Fault> | undefined;
    for (const planned of this.#planned) {
      if (!planned.matches(operation)) continue;
      planned.left--;
      if (planned.left <= 0) hit ??= planned;
    }
    if (hit) this.#planned = this.#planned.filter((planned) => planned !== hit);
    return hit?.fault;
  }
}

const MAX_RECORDED = 20_000;

/** Appends to a list that a simulation records for tests; a long list drops its oldest entries. */
export function appendRecord<T>(all: T[], one: T): void {
  all.push(one);
  if (all.length > MAX_RECORDED) all.splice(0, MAX_RECORDED / 2);
}
