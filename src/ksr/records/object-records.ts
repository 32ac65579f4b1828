/** From the objects of one kind, each for itself, to their records. */
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { KubeObject } from '#kubernetes/reflector/objects/object.ts';
import type { KindHandlers, ObjectName } from '../api-server/api.ts';
import type { RecordCounters } from './counters.ts';
import { creationTimeOf, displayName, type ObjectType, readKubeObject } from './kube-object.ts';
import { type RecordTable, UNREADABLE } from './record-table.ts';
import type { RecordText, RecordTexts } from './record-text.ts';
import { SharedRecords } from './shared-records.ts';

/** The records of one prefix that the objects of a kind give. */
export interface RecordOutput {
  readonly table: RecordTable;
  readonly counters: RecordCounters;
  /** The key lacks the namespace, although the kind has namespaces. */
  readonly isKeyShared?: boolean;
  /** Without the prefix of all records of the reflector. */
  key(name: ObjectName): string;
  readonly texts: RecordTexts;
}

export interface ObjectRecordsDeps {
  readonly type: ObjectType;
  readonly outputs: readonly RecordOutput[];
  /** Prefix of all records of the reflector. */
  readonly prefix: string;
  readonly log: Logger;
}

export class ObjectRecords implements KindHandlers {
  readonly #deps: ObjectRecordsDeps;
  readonly #shared = new Map<RecordOutput, SharedRecords>();
  /** By key: what records leave out, as it was logged. */
  readonly #omitted = new Map<string, string>();

  constructor(deps: ObjectRecordsDeps) {
    this.#deps = deps;
    for (const output of deps.outputs)
      if (output.isKeyShared) this.#shared.set(output, this.#newShared(output));
  }

  listing(): void {
    for (const output of this.#deps.outputs) this.#listOf(output).beginList();
  }

  changed(objects: readonly unknown[]): void {
    for (const raw of objects) this.#change(raw);
  }

  deleted(name: ObjectName): void {
    for (const output of this.#deps.outputs) this.#delete(output, name);
  }

  listed(): void {
    for (const output of this.#deps.outputs) this.#listOf(output).endList();
  }

  interrupted(): void {
    for (const { table } of this.#deps.outputs) table.markIncomplete();
  }

  resumed(): void {
    for (const { table } of this.#deps.outputs) table.markComplete();
  }

  absent(): void {
    for (const { table } of this.#deps.outputs) table.markIncomplete();
  }

  #change(raw: unknown): void {
    const { name, object, rejection } = readKubeObject(raw, this.#deps.type);
    const created = creationTimeOf(raw);
    for (const output of this.#deps.outputs) {
      const record =
        object === undefined
          ? this.#reject(output, name, rejection)
          : this.#recordOf(output, name, object);
      if (name === undefined) continue;
      if (record === undefined) this.#delete(output, name);
      else this.#set(output, name, created, record);
    }
  }

  #recordOf(
    output: RecordOutput,
    name: ObjectName,
    object: KubeObject,
  ): RecordText | typeof UNREADABLE | undefined {
    try {
      const record = output.texts.of(object);
      if (record?.problem !== undefined) this.#warn(output, name, record);
      this.#reportOmitted(output, name, record?.omitted);
      return record;
    } catch (thrown) {
      return this.#reject(output, name, thrown);
    }
  }

  #set(
    output: RecordOutput,
    name: ObjectName,
    created: string,
    record: RecordText | typeof UNREADABLE,
  ): void {
    const key = this.#key(output, name);
    const shared = this.#shared.get(output);
    const text = record === UNREADABLE ? record : record.text;
    if (shared) shared.set(key, { name, created, text });
    else output.table.set(key, text, record !== UNREADABLE && record.problem !== undefined);
  }

  #delete(output: RecordOutput, name: ObjectName): void {
    const key = this.#key(output, name);
    this.#omitted.delete(key);
    const shared = this.#shared.get(output);
    if (shared) shared.delete(key, name);
    else output.table.delete(key);
  }

  #listOf(output: RecordOutput): Pick<RecordTable, 'beginList' | 'endList'> {
    return this.#shared.get(output) ?? output.table;
  }

  #newShared({ table }: RecordOutput): SharedRecords {
    const { type, log } = this.#deps;
    return new SharedRecords(table, ({ name }, inUse) => {
      const fields = { kind: type.kind, name: displayName(name), inUse: displayName(inUse) };
      log.warn(fields, 'objects of several namespaces have one name; only the oldest is reflected');
    });
  }

  #reject(
    output: RecordOutput,
    name: ObjectName | undefined,
    reason: unknown,
  ): RecordText | typeof UNREADABLE {
    const { type, log } = this.#deps;
    output.counters.argErrors++;
    const closed = name && output.texts.closed(name, errorText(reason));
    if (closed) {
      this.#warn(output, name, closed);
      return closed;
    }
    const fields = { kind: type.kind, name: name && displayName(name) };
    if (reason instanceof Error) log.error({ ...fields, err: reason }, UNREADABLE_TEXT);
    else log.error({ ...fields, reason }, UNREADABLE_TEXT);
    return UNREADABLE;
  }

  /** Once, not with each list. */
  #warn(output: RecordOutput, name: ObjectName, { text, problem }: RecordText): void {
    if (output.table.get(this.#key(output, name)) === text) return;
    const { type, log } = this.#deps;
    log.error({ kind: type.kind, name: displayName(name), reason: problem }, CLOSED_TEXT);
  }

  /** Once, until the object asks for something else. */
  #reportOmitted(output: RecordOutput, name: ObjectName, omitted: string | undefined): void {
    const key = this.#key(output, name);
    if (this.#omitted.get(key) === omitted) return;
    if (omitted === undefined) {
      this.#omitted.delete(key);
      return;
    }
    this.#omitted.set(key, omitted);
    const { type, log } = this.#deps;
    log.warn({ kind: type.kind, name: displayName(name), omitted }, OMITTED_TEXT);
  }

  #key(output: RecordOutput, name: ObjectName): string {
    return this.#deps.prefix + output.key(name);
  }
}

const OMITTED_TEXT =
  'the record of an object leaves out what agents of the original reject; set readers: own when all agents are of this project';
const CLOSED_TEXT =
  'an object cannot be read, or not all of it; its record permits less than the object';
const UNREADABLE_TEXT = 'cannot reflect an object; its record in the datastore stays as it is';
