/** From the objects of one kind, each for itself, to their records. */
import type { Logger } from '#infra/log/log.ts';
import type { KubeObject } from '#kubernetes/reflector/objects/object.ts';
import type { KindHandlers, ObjectName } from '../api-server/api.ts';
import type { RecordCounters } from './counters.ts';
import { displayName, type ObjectType, readKubeObject } from './kube-object.ts';
import { type RecordTable, UNREADABLE } from './record-table.ts';

/** The records of one prefix that the objects of a kind give. */
export interface RecordOutput {
  readonly table: RecordTable;
  readonly counters: RecordCounters;
  /** Without the prefix of all records of the reflector. */
  key(name: ObjectName): string;
  /**
   * undefined: the object has no record.
   * @throws for an object that the record cannot represent
   */
  text(object: KubeObject): string | undefined;
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

  constructor(deps: ObjectRecordsDeps) {
    this.#deps = deps;
  }

  listing(): void {
    for (const { table } of this.#deps.outputs) table.beginList();
  }

  changed(objects: readonly unknown[]): void {
    for (const raw of objects) this.#change(raw);
  }

  deleted(name: ObjectName): void {
    for (const output of this.#deps.outputs) output.table.delete(this.#key(output, name));
  }

  listed(): void {
    for (const { table } of this.#deps.outputs) table.endList();
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
    for (const output of this.#deps.outputs) {
      if (object === undefined) this.#reject(output, name, rejection);
      else this.#set(output, name, object);
    }
  }

  #set(output: RecordOutput, name: ObjectName, object: KubeObject): void {
    const key = this.#key(output, name);
    let text: string | undefined;
    try {
      text = output.text(object);
    } catch (thrown) {
      this.#reject(output, name, thrown);
      return;
    }
    if (text === undefined) output.table.delete(key);
    else output.table.set(key, text);
  }

  #reject(output: RecordOutput, name: ObjectName | undefined, reason: unknown): void {
    const { type, log } = this.#deps;
    output.counters.argErrors++;
    const fields = { kind: type.kind, name: name && displayName(name) };
    if (reason instanceof Error) log.error({ ...fields, err: reason }, UNREADABLE_TEXT);
    else log.error({ ...fields, reason }, UNREADABLE_TEXT);
    if (name) output.table.set(this.#key(output, name), UNREADABLE);
  }

  #key(output: RecordOutput, name: ObjectName): string {
    return this.#deps.prefix + output.key(name);
  }
}

const UNREADABLE_TEXT = 'cannot reflect an object; its record in the datastore stays as it is';
