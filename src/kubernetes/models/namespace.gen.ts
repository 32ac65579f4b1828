// Made from namespace.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'namespace.proto',
  imports: [],
  nested: { "namespace": { "nested": { "Namespace": { "fields": { "name": { "type": "string", "id": 1 }, "label": { "rule": "repeated", "type": "Label", "id": 3 } }, "nested": { "Label": { "fields": { "key": { "type": "string", "id": 1 }, "value": { "type": "string", "id": 2 } } } } } } } },
};

export interface Namespace {
  readonly name: string;
  readonly label: readonly NamespaceLabel[];
}
export const Namespace: MessageType<Namespace> = messageType(file, 'namespace.Namespace');

export interface NamespaceLabel {
  readonly key: string;
  readonly value: string;
}
export const NamespaceLabel: MessageType<NamespaceLabel> = messageType(file, 'namespace.Namespace.Label');
