import type { KindHandlers, ObjectName } from '#ksr/api-server/api.ts';
import type { FakeObject } from './fake-history.ts';

/** A consumer of a watch as the contract asks for: mark and sweep when a list is complete. */
export class ObjectView implements KindHandlers {
  readonly objects = new Map<string, FakeObject>();
  /** All calls, e.g. `listing`, `changed 2`, `deleted ns/name`. */
  readonly calls: string[] = [];
  /** Whether the watch has reported that the objects are up to date. */
  isCurrent = false;
  #listed: Set<string> | undefined;

  listing(): void {
    this.calls.push('listing');
    this.#listed = new Set();
  }

  changed(objects: readonly unknown[]): void {
    this.calls.push(`changed ${objects.length}`);
    for (const object of objects as readonly FakeObject[]) {
      const key = keyOf(object.metadata);
      this.#listed?.add(key);
      this.objects.set(key, object);
    }
  }

  deleted(name: ObjectName): void {
    this.calls.push(`deleted ${keyOf(name)}`);
    this.objects.delete(keyOf(name));
  }

  listed(): void {
    this.calls.push('listed');
    if (!this.#listed) throw new Error('`listed` without `listing`');
    for (const key of this.objects.keys()) if (!this.#listed.has(key)) this.objects.delete(key);
    this.#listed = undefined;
    this.isCurrent = true;
  }

  interrupted(): void {
    this.isCurrent = false;
  }

  resumed(): void {
    this.isCurrent = true;
  }

  absent(): void {
    this.calls.push('absent');
  }
}

export const keyOf = ({ name, namespace }: { name: string; namespace?: string | undefined }) =>
  namespace ? `${namespace}/${name}` : name;
