import { InvalidModelError } from '#models/model.ts';
import { type Resource, resourceList } from '../resources/resources.ts';
import type { ManifestProblem } from './manifest-problem.ts';
import { namespaceOf } from './objects/meta.ts';
import type { KubeObject } from './objects/object.ts';
import { type ReflectedObject, reflect } from './reflect.ts';
import type { Readers } from './reflected.ts';
import { displayName, type SourcedObject } from './sourced-object.ts';

/** Canonical values by keyword of the resource and key without prefix; all resources are present. */
export type KubeState = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** Collects values; values that a model rejects become problems. */
export class KubeStateBuilder {
  readonly #readers: Readers;
  readonly #problems: ManifestProblem[];
  readonly #state = new Map<string, Map<string, object>>();

  constructor(readers: Readers, problems: ManifestProblem[]) {
    this.#readers = readers;
    this.#problems = problems;
    for (const { keyword } of resourceList) this.#state.set(keyword, new Map());
  }

  reflect({ object, source }: SourcedObject<ReflectedObject>): void {
    const { reflected, rejection } = reflect(object, this.#readers);
    if (reflected === undefined) this.#problems.push({ ...source, ...rejection });
    else this.#state.get(reflected.resource.keyword)?.set(reflected.key, reflected.value);
  }

  /** Adds a value that is derived from several objects; problems name the given one. */
  derive<T extends object>(
    { object, source }: SourcedObject,
    resource: Resource<T>,
    make: () => T,
  ): void {
    try {
      const value = make();
      this.#state.get(resource.keyword)?.set(resource.model.key(value), value);
    } catch (thrown) {
      if (!(thrown instanceof InvalidModelError)) throw thrown;
      const name = displayName(object);
      this.#problems.push({ ...source, kind: object.kind, name, reason: thrown.message });
    }
  }

  has<T extends object>(resource: Resource<T>, object: KubeObject): boolean {
    const key = resource.key(object.metadata.name, namespaceOf(object));
    return this.#state.get(resource.keyword)?.has(key) === true;
  }

  done(): KubeState {
    return Object.fromEntries(
      [...this.#state].map(([keyword, values]) => {
        const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
        return [keyword, Object.fromEntries(sorted)];
      }),
    );
  }
}
