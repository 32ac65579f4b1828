/** Reads what the API server sends: items of a list lack the kind that the list has. */
import { type KubeObject, readObject } from '#kubernetes/reflector/objects/object.ts';
import type { ObjectName } from '../api-server/api.ts';

export interface ObjectType {
  readonly kind: KubeObject['kind'];
  readonly apiVersion: string;
}

export type ReadKubeObject =
  | { readonly name: ObjectName; readonly object: KubeObject; readonly rejection?: undefined }
  /** @property name undefined: the object has none */
  | {
      readonly name: ObjectName | undefined;
      readonly object?: undefined;
      readonly rejection: string;
    };

export function readKubeObject(raw: unknown, type: ObjectType): ReadKubeObject {
  const { object, rejection } = readObject(
    typeof raw === 'object' && raw !== null ? { ...raw, ...type } : raw,
  );
  const name = nameOf(raw);
  if (object === undefined || name === undefined)
    return { name, rejection: rejection?.reason ?? 'metadata.name is missing' };
  return { name, object };
}

function nameOf(raw: unknown): ObjectName | undefined {
  const { metadata } = (raw ?? {}) as { metadata?: { name?: unknown; namespace?: unknown } };
  const { name, namespace = '' } = metadata ?? {};
  if (typeof name !== 'string' || name === '' || typeof namespace !== 'string') return undefined;
  return { name, namespace };
}

/** Empty for an object without it. The API server writes it in one form, so that texts can be compared. */
export function creationTimeOf(raw: unknown): string {
  const { metadata } = (raw ?? {}) as { metadata?: { creationTimestamp?: unknown } | null };
  const created = metadata?.creationTimestamp;
  return typeof created === 'string' ? created : '';
}

/** For logs: `namespace/name`, or the name alone. */
export function displayName({ name, namespace }: ObjectName): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
