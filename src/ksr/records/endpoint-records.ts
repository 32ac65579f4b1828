/**
 * The endpoints records: one for each service, from its EndpointSlices or, if it has none, from its
 * Endpoints object. A record needs all slices of its service, so they are kept, in a compact form.
 */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Steps } from '#infra/clock/steps.ts';
import type { Logger } from '#infra/log/log.ts';
import { endpointsValue, mergedInSteps } from '#kubernetes/reflector/endpoints.ts';
import {
  type KubeEndpointSlice,
  type KubeEndpoints,
  serviceOfSlice,
  TRIGGER_TIME,
} from '#kubernetes/reflector/objects/endpoints.ts';
import type { Readers } from '#kubernetes/reflector/reflected.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { KindHandlers, ObjectName } from '../api-server/api.ts';
import type { RecordCounters } from './counters.ts';
import { displayName, type ObjectType, readKubeObject } from './kube-object.ts';
import { type RecordTable, UNREADABLE } from './record-table.ts';

export const endpointsType: ObjectType = { kind: 'Endpoints', apiVersion: 'v1' };
export const sliceType: ObjectType = {
  kind: 'EndpointSlice',
  apiVersion: 'discovery.k8s.io/v1',
};

export interface EndpointRecordsDeps {
  readonly table: RecordTable;
  readonly counters: RecordCounters;
  readonly readers: Readers;
  /** Prefix of all records of the reflector. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The text of a record or of a slice. */
type Source = string | typeof UNREADABLE;

interface SliceEntry {
  /** Key of the record of its service. */
  readonly record: string;
  readonly slice: Source;
}

/** The known objects of one of the two kinds. */
class SourceList<E> {
  readonly entries = new Map<string, E>();
  listed: Set<string> | undefined;
  /** Whether a list was complete and the watch is not interrupted. */
  isComplete = false;
  /** The server does not have the kind: the other one is enough. */
  isAbsent = false;
}

export class EndpointRecords {
  readonly endpoints: KindHandlers;
  readonly slices: KindHandlers;
  readonly #deps: EndpointRecordsDeps;
  /** Text of the record of an Endpoints object, by key. */
  readonly #endpoints = new SourceList<Source>();
  /** By name. */
  readonly #slices = new SourceList<SliceEntry>();
  /** Key of a record to the names of its slices. */
  readonly #slicesOf = new Map<string, Set<string>>();
  /** Keys of records to be computed again, in the order of the last change. */
  readonly #outdated = new Set<string>();
  /** The one of them that waits, because more of its slices may follow. */
  #unfinished: string | undefined;
  #isWorking = false;
  readonly #turns: Slices;

  constructor(deps: EndpointRecordsDeps) {
    this.#deps = deps;
    this.#turns = new Slices(deps.clock);
    this.endpoints = this.#handlers(this.#endpoints, {
      change: (raw) => this.#changeEndpoints(raw),
      remove: (id) => this.#removeEndpoints(id),
      id: (name) => this.#recordKey(name),
    });
    this.slices = this.#handlers(this.#slices, {
      change: (raw) => this.#changeSlice(raw),
      remove: (id) => this.#removeSlice(id),
      id: displayName,
    });
  }

  #handlers<E>(
    list: SourceList<E>,
    kind: {
      change(raw: unknown): void;
      remove(id: string): void;
      id(name: ObjectName): string;
    },
  ): KindHandlers {
    const assess = () => this.#assess();
    return {
      listing: () => {
        this.#refresh();
        list.listed = new Set();
        list.isAbsent = false;
      },
      changed: (objects) => {
        for (const raw of objects) kind.change(raw);
        // a list is sorted: more slices of the last service may follow
        this.#refresh(list.listed && [...this.#outdated].at(-1));
      },
      deleted: (name) => {
        const id = kind.id(name);
        list.listed?.delete(id);
        kind.remove(id);
        this.#refresh();
      },
      listed: () => {
        const { listed } = list;
        list.listed = undefined;
        if (listed && listed.size < list.entries.size)
          for (const id of [...list.entries.keys()]) if (!listed.has(id)) kind.remove(id);
        this.#refresh();
        list.isComplete = true;
        assess();
      },
      interrupted: () => {
        list.isComplete = false;
        assess();
      },
      resumed: () => {
        list.isComplete = true;
        assess();
      },
      absent: () => {
        list.listed = undefined;
        list.isAbsent = true;
        list.isComplete = false;
        assess();
      },
    };
  }

  /** The table is complete when all objects are known and their records are computed. */
  #assess(): void {
    const { table } = this.#deps;
    // Every server has Endpoints; without slices they alone make the records.
    const isKnown = ({ isComplete, isAbsent, entries }: SourceList<unknown>): boolean =>
      isComplete || (isAbsent && entries.size === 0);
    if (!isKnown(this.#endpoints) || !isKnown(this.#slices)) table.markIncomplete();
    else if (!this.#isWorking) table.markComplete();
  }

  #changeEndpoints(raw: unknown): void {
    const read = readKubeObject(raw, endpointsType);
    if (read.object === undefined) {
      this.#reject('Endpoints', read.name, read.rejection);
      if (read.name) this.#setEndpoints(this.#recordKey(read.name), UNREADABLE);
      return;
    }
    const key = this.#recordKey(read.name);
    const text = this.#textOf('Endpoints', read.name, () =>
      valueText(resources.endpoints, endpointsValue(read.object as KubeEndpoints)),
    );
    this.#setEndpoints(key, text);
  }

  #setEndpoints(key: string, source: Source): void {
    this.#endpoints.listed?.add(key);
    this.#endpoints.entries.set(key, source);
    if (!this.#slicesOf.has(key)) this.#setOutdated(key);
  }

  #removeEndpoints(key: string): void {
    if (this.#endpoints.entries.delete(key) && !this.#slicesOf.has(key)) this.#setOutdated(key);
  }

  #changeSlice(raw: unknown): void {
    const read = readKubeObject(raw, sliceType);
    if (read.object === undefined) {
      const id = read.name && displayName(read.name);
      const service = serviceLabelOf(raw);
      // a slice without a service belongs to another user of this kind
      if (service === undefined && id !== undefined) this.#removeSlice(id);
      if (service === undefined) return;
      this.#reject('EndpointSlice', read.name, read.rejection);
      if (read.name === undefined || id === undefined) return;
      const record = this.#recordKey({ name: service, namespace: read.name.namespace });
      this.#setSlice(id, { record, slice: UNREADABLE });
      return;
    }
    const slice = read.object as KubeEndpointSlice;
    const { namespace } = read.name;
    const record = this.#recordKey({ name: serviceOfSlice(slice) ?? '', namespace });
    this.#setSlice(displayName(read.name), { record, slice: compactText(slice) });
  }

  #setSlice(id: string, entry: SliceEntry): void {
    const before = this.#slices.entries.get(id);
    // a slice may get the label of another service
    if (before && before.record !== entry.record) this.#removeSlice(id);
    this.#slices.listed?.add(id);
    if (before?.record === entry.record && before.slice === entry.slice) return;
    this.#slices.entries.set(id, entry);
    const names = this.#slicesOf.get(entry.record);
    if (names) names.add(id);
    else this.#slicesOf.set(entry.record, new Set([id]));
    this.#setOutdated(entry.record);
  }

  #removeSlice(id: string): void {
    const entry = this.#slices.entries.get(id);
    if (entry === undefined) return;
    this.#slices.listed?.delete(id);
    this.#slices.entries.delete(id);
    const names = this.#slicesOf.get(entry.record);
    names?.delete(id);
    if (names?.size === 0) this.#slicesOf.delete(entry.record);
    this.#setOutdated(entry.record);
  }

  #setOutdated(record: string): void {
    this.#outdated.delete(record);
    this.#outdated.add(record);
  }

  /** @param unfinished a record that is not computed yet */
  #refresh(unfinished?: string): void {
    this.#unfinished = unfinished;
    if (!this.#isWorking) void this.#compute();
  }

  /**
   * Computes the records that are out of date, each from all slices of its service: at once, but for those of
   * thousands of endpoints, which take 70 ms.
   */
  async #compute(): Promise<void> {
    const turns = this.#turns;
    this.#isWorking = true;
    for (let next = this.#nextOutdated(); next !== undefined; next = this.#nextOutdated()) {
      this.#outdated.delete(next);
      for (const _ of this.#update(next)) if (turns.dueNow()) await turns.turn();
    }
    this.#isWorking = false;
    if (this.#outdated.size === 0) this.#assess();
  }

  #nextOutdated(): string | undefined {
    for (const record of this.#outdated) if (record !== this.#unfinished) return record;
    return undefined;
  }

  *#update(record: string): Steps<void> {
    const { table } = this.#deps;
    const names = this.#slicesOf.get(record);
    if (names === undefined) {
      const source = this.#endpoints.entries.get(record);
      if (source === undefined) table.delete(record);
      else table.set(record, source);
      return;
    }
    const slices: string[] = [];
    for (const id of names) {
      const slice = this.#slices.entries.get(id)?.slice;
      if (slice === undefined) continue;
      if (slice === UNREADABLE) {
        table.set(record, UNREADABLE);
        return;
      }
      slices.push(slice);
    }
    const key = record.slice(this.#deps.prefix.length);
    const service = resources.endpoints.parseKey(key) ?? { name: '', namespace: '' };
    try {
      const value = yield* mergedInSteps(service, parsed(slices), this.#deps.readers);
      yield;
      table.set(record, valueText(resources.endpoints, value));
    } catch (thrown) {
      this.#reject('EndpointSlice', service, thrown);
      table.set(record, UNREADABLE);
    }
  }

  #textOf(kind: string, name: ObjectName, make: () => string): string | typeof UNREADABLE {
    try {
      return make();
    } catch (thrown) {
      this.#reject(kind, name, thrown);
      return UNREADABLE;
    }
  }

  #reject(kind: string, name: ObjectName | undefined, reason: unknown): void {
    this.#deps.counters.argErrors++;
    const fields = { kind, name: name && displayName(name) };
    const text = 'cannot reflect endpoints; their record in the datastore stays as it is';
    if (reason instanceof Error) this.#deps.log.error({ ...fields, err: reason }, text);
    else this.#deps.log.error({ ...fields, reason }, text);
  }

  #recordKey({ name, namespace }: ObjectName): string {
    return this.#deps.prefix + resources.endpoints.key(name, namespace);
  }
}

function* parsed(slices: readonly string[]): Iterable<KubeEndpointSlice> {
  for (const slice of slices) yield JSON.parse(slice) as KubeEndpointSlice;
}

/** The fields of a slice that `mergedInSteps` reads. */
function compactText({ metadata, addressType, endpoints, ports }: KubeEndpointSlice): string {
  return JSON.stringify({
    metadata: {
      name: metadata.name,
      annotations: { [TRIGGER_TIME]: metadata.annotations?.[TRIGGER_TIME] },
    },
    addressType,
    endpoints: endpoints?.map((one) => ({
      addresses: one.addresses.slice(0, 1),
      conditions: one.conditions,
      hostname: one.hostname,
      nodeName: one.nodeName,
      targetRef: one.targetRef,
      hints: one.hints,
    })),
    ports,
  });
}

/** The service that a slice names, if it can be read although the slice cannot. */
function serviceLabelOf(raw: unknown): string | undefined {
  const { metadata } = (raw ?? {}) as { metadata?: { labels?: Record<string, unknown> } };
  const service = metadata?.labels?.['kubernetes.io/service-name'];
  return typeof service === 'string' && service !== '' ? service : undefined;
}
