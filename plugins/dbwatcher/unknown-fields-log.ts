import type { Logger } from '#infra/log/log.ts';
import type { LastKnownState, UnknownFields } from './last-known-state.ts';

/**
 * Warns of fields in the database that this agent does not know: a newer program writes them. There is
 * one warning per resource, with all its values and fields, whenever a field appears that was not
 * reported before; not one per value.
 */
export class UnknownFieldsLog {
  readonly #log: Logger;
  readonly #reported = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param keys those that have changed; undefined: all */
  report({ unknownFields }: LastKnownState, keys?: readonly string[]): void {
    if (unknownFields.size === 0) return;
    const fresh = new Set<string>();
    for (const key of keys ?? unknownFields.keys()) {
      const found = unknownFields.get(key);
      if (found && this.#isNew(found)) fresh.add(found.resource);
    }
    if (fresh.size === 0) return;
    for (const [resource, { values, names }] of summary(unknownFields))
      if (fresh.has(resource))
        this.#log.warn(
          { resource, values, fields: [...names].sort() },
          'ignoring unknown fields in the datastore: a newer program writes them',
        );
  }

  #isNew({ resource, names }: UnknownFields): boolean {
    const before = this.#reported.size;
    for (const name of names) this.#reported.add(`${resource}.${name}`);
    return this.#reported.size > before;
  }
}

interface ResourceSummary {
  values: number;
  readonly names: Set<string>;
}

/** Number of values and names of the fields, by resource. */
function summary(
  unknownFields: ReadonlyMap<string, UnknownFields>,
): ReadonlyMap<string, ResourceSummary> {
  const byResource = new Map<string, ResourceSummary>();
  for (const { resource, names } of unknownFields.values()) {
    const one = byResource.get(resource) ?? { values: 0, names: new Set<string>() };
    byResource.set(resource, one);
    one.values++;
    for (const name of names) one.names.add(name);
  }
  return byResource;
}
