/**
 * The used fields of Kubernetes objects. The schemas validate the input; fields that they do not
 * mention are ignored.
 */
import { type Static, type TSchema, Type } from 'typebox';

/** Names are used in keys, so they must not contain a slash. */
const Name = Type.String({
  pattern: '^[A-Za-z0-9]([A-Za-z0-9_.:-]{0,251}[A-Za-z0-9])?$',
  description: 'a Kubernetes name',
});
export const Text = Type.String();
export const Texts = Type.Array(Type.String());
export const TextMap = Type.Record(Type.String(), Type.String());
export const Port = Type.Integer({ minimum: 1, maximum: 65535 });
export const PortOrNone = Type.Integer({ minimum: 0, maximum: 65535 });
export const Protocol = Type.Enum(['TCP', 'UDP', 'SCTP']);

export const Meta = Type.Object({
  name: Name,
  namespace: Type.Optional(Name),
  uid: Type.Optional(Text),
  labels: Type.Optional(TextMap),
  annotations: Type.Optional(TextMap),
  creationTimestamp: Type.Optional(Text),
  deletionTimestamp: Type.Optional(Text),
  ownerReferences: Type.Optional(
    Type.Array(Type.Object({ kind: Type.Optional(Text), name: Type.Optional(Text) })),
  ),
});
export type Meta = Static<typeof Meta>;

/** Schema of an object of this kind; `parts` are its fields besides kind and metadata. */
export function objectSchema<const K extends string, P extends Record<string, TSchema>>(
  kind: K,
  parts: P,
) {
  return Type.Object({ kind: Type.Literal(kind), metadata: Meta, ...parts });
}

/** Namespace of objects that do not specify one. */
const DEFAULT_NAMESPACE = 'default';

export function namespaceOf(object: { readonly metadata: Meta }): string {
  return object.metadata.namespace ?? DEFAULT_NAMESPACE;
}
