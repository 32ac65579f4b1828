import type { Value } from '#kvscheduler/api/transaction.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { ServiceName } from '../rendered-service.ts';

interface SharedValue {
  readonly value: Value;
  readonly users: Set<ServiceName>;
}

/** Values that several services need: each exists while a service needs it. */
export class SharedValues {
  readonly #values = new Map<string, SharedValue>();
  readonly #keysOf = new Map<ServiceName, readonly string[]>();

  /** Sets what a service needs. @returns keys whose value has come (the value) or gone (undefined) */
  set(service: ServiceName, needed: readonly KeyValue[]): Map<string, Value | undefined> {
    const changed = new Map<string, Value | undefined>();
    const before = this.#keysOf.get(service) ?? [];
    for (const { key, value } of needed) {
      const known = this.#values.get(key);
      if (known !== undefined) known.users.add(service);
      else {
        this.#values.set(key, { value, users: new Set([service]) });
        changed.set(key, value);
      }
    }
    const kept = new Set(needed.map(({ key }) => key));
    for (const key of before) {
      if (kept.has(key)) continue;
      const { users } = this.#values.get(key)!;
      users.delete(service);
      if (users.size > 0) continue;
      this.#values.delete(key);
      changed.set(key, undefined);
    }
    if (needed.length === 0) this.#keysOf.delete(service);
    else this.#keysOf.set(service, [...kept]);
    return changed;
  }

  all(): KeyValue[] {
    return [...this.#values].map(([key, { value }]) => ({ key, value }));
  }
}
