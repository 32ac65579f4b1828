/** The text of an object's record. */
import type { KubeObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';
import type { Readers } from '#kubernetes/reflector/reflected.ts';
import type { AnyResource } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { ObjectName } from '../api-server/api.ts';
import { MAX_RECORD_BYTES, recordBytes } from './batch.ts';

export interface RecordText {
  readonly text: string;
  /** Reason why the record permits less than the object: a part cannot be read, or not be written. */
  readonly problem?: string | undefined;
  /** Preference of the object that the record leaves out, for agents of the original. */
  readonly omitted?: string | undefined;
}

export interface RecordTexts {
  /**
   * undefined: the object has no record.
   * @throws Error with the reason for an object that the record cannot represent
   */
  of(object: KubeObject): RecordText | undefined;
  /** In place of an object that cannot be read; undefined: the kind has no such form. */
  closed(name: ObjectName, reason: string): RecordText | undefined;
}

/** @param prefix of all records */
export function recordTexts(resource: AnyResource, prefix: string, readers: Readers): RecordTexts {
  const { closed } = resource;
  const closedText = (name: ObjectName, problem: string, raw?: unknown): RecordText | undefined =>
    closed && { text: valueText(resource, closed.value(name, problem, raw)), problem };
  return {
    of(object) {
      const { reflected, rejection } = reflect(object as ReflectedObject, readers);
      if (reflected === undefined) throw new Error(rejection.reason);
      const { key, value, omitted } = reflected;
      const text = valueText(resource, value);
      const bytes = recordBytes(prefix + key, text);
      if (closed === undefined || bytes <= MAX_RECORD_BYTES)
        return { text, problem: closed?.unreadableParts(value), omitted };
      const { name, namespace = '' } = object.metadata;
      const problem = `its record has ${bytes} bytes, etcd takes ${MAX_RECORD_BYTES}`;
      const short = closedText({ name, namespace }, problem, value) as RecordText;
      const fits = recordBytes(prefix + key, short.text) <= MAX_RECORD_BYTES;
      return fits ? short : closedText({ name, namespace }, problem);
    },
    closed: closedText,
  };
}
