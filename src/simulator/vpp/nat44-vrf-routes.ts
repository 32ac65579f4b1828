import type { TableLocks } from './nat44-mappings.ts';
import { retval } from './retval.ts';

/** The tables between which NAT44 passes traffic. */
export class VrfRoutes {
  readonly #tables: TableLocks;
  readonly #routes = new Map<number, Set<number>>();

  constructor(tables: TableLocks) {
    this.#tables = tables;
  }

  clear(): void {
    for (const id of [...this.#routes.keys()]) this.setTable(id, false);
  }

  setTable(id: number, isAdd: boolean): number {
    if (this.#routes.has(id) === isAdd) return isAdd ? retval.VALUE_EXIST : retval.NO_SUCH_ENTRY;
    if (isAdd) this.#routes.set(id, new Set());
    else for (const to of this.#routes.get(id) ?? []) this.#tables.unlock(to);
    if (!isAdd) this.#routes.delete(id);
    this.#setLock(id, isAdd);
    return 0;
  }

  setRoute(id: number, to: number, isAdd: boolean): number {
    const routes = this.#routes.get(id);
    if (!routes) return retval.NO_SUCH_ENTRY;
    if (routes.has(to) === isAdd) return isAdd ? retval.VALUE_EXIST : retval.NO_SUCH_ENTRY;
    if (isAdd) routes.add(to);
    else routes.delete(to);
    this.#setLock(to, isAdd);
    return 0;
  }

  #setLock(id: number, isAdd: boolean): void {
    if (isAdd) this.#tables.lock(id);
    else this.#tables.unlock(id);
  }
}
