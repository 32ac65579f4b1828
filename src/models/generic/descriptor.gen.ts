// Made from generic/descriptor.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'generic/descriptor.proto',
  imports: [],
  nested: { "google": { "nested": { "protobuf": { "nested": { "Any": { "fields": { "type_url": { "type": "string", "id": 1 }, "value": { "type": "bytes", "id": 2 } } }, "FileDescriptorSet": { "fields": { "file": { "rule": "repeated", "type": "FileDescriptorProto", "id": 1 } } }, "FileDescriptorProto": { "fields": { "name": { "type": "string", "id": 1 }, "package": { "type": "string", "id": 2 }, "dependency": { "rule": "repeated", "type": "string", "id": 3 }, "message_type": { "rule": "repeated", "type": "DescriptorProto", "id": 4 }, "enum_type": { "rule": "repeated", "type": "EnumDescriptorProto", "id": 5 }, "syntax": { "type": "string", "id": 12 } } }, "DescriptorProto": { "fields": { "name": { "type": "string", "id": 1 }, "field": { "rule": "repeated", "type": "FieldDescriptorProto", "id": 2 }, "nested_type": { "rule": "repeated", "type": "DescriptorProto", "id": 3 }, "enum_type": { "rule": "repeated", "type": "EnumDescriptorProto", "id": 4 }, "options": { "type": "MessageOptions", "id": 7 }, "oneof_decl": { "rule": "repeated", "type": "OneofDescriptorProto", "id": 8 } } }, "FieldDescriptorProto": { "oneofs": { "_oneof_index": { "oneof": [ "oneof_index" ] } }, "fields": { "name": { "type": "string", "id": 1 }, "number": { "type": "int32", "id": 3 }, "label": { "type": "int32", "id": 4 }, "type": { "type": "int32", "id": 5 }, "type_name": { "type": "string", "id": 6 }, "oneof_index": { "type": "int32", "id": 9, "options": { "proto3_optional": true } }, "json_name": { "type": "string", "id": 10 } } }, "OneofDescriptorProto": { "fields": { "name": { "type": "string", "id": 1 } } }, "EnumDescriptorProto": { "fields": { "name": { "type": "string", "id": 1 }, "value": { "rule": "repeated", "type": "EnumValueDescriptorProto", "id": 2 } } }, "EnumValueDescriptorProto": { "oneofs": { "_number": { "oneof": [ "number" ] } }, "fields": { "name": { "type": "string", "id": 1 }, "number": { "type": "int32", "id": 2, "options": { "proto3_optional": true } } } }, "MessageOptions": { "fields": { "map_entry": { "type": "bool", "id": 7 } } } } } } } },
};

export interface Any {
  readonly type_url: string;
  readonly value: string;
}
export const Any: MessageType<Any> = messageType(file, 'google.protobuf.Any');

export interface FileDescriptorSet {
  readonly file: readonly FileDescriptorProto[];
}
export const FileDescriptorSet: MessageType<FileDescriptorSet> = messageType(file, 'google.protobuf.FileDescriptorSet');

export interface FileDescriptorProto {
  readonly name: string;
  readonly package: string;
  readonly dependency: readonly string[];
  readonly message_type: readonly DescriptorProto[];
  readonly enum_type: readonly EnumDescriptorProto[];
  readonly syntax: string;
}
export const FileDescriptorProto: MessageType<FileDescriptorProto> = messageType(file, 'google.protobuf.FileDescriptorProto');

export interface DescriptorProto {
  readonly name: string;
  readonly field: readonly FieldDescriptorProto[];
  readonly nested_type: readonly DescriptorProto[];
  readonly enum_type: readonly EnumDescriptorProto[];
  readonly options?: MessageOptions;
  readonly oneof_decl: readonly OneofDescriptorProto[];
}
export const DescriptorProto: MessageType<DescriptorProto> = messageType(file, 'google.protobuf.DescriptorProto');

export interface FieldDescriptorProto {
  readonly name: string;
  readonly number: number;
  readonly label: number;
  readonly type: number;
  readonly type_name: string;
  /** Only of a member: the first oneof has index 0. */
  readonly oneof_index?: number;
  readonly json_name: string;
}
export const FieldDescriptorProto: MessageType<FieldDescriptorProto> = messageType(file, 'google.protobuf.FieldDescriptorProto');

export interface OneofDescriptorProto {
  readonly name: string;
}
export const OneofDescriptorProto: MessageType<OneofDescriptorProto> = messageType(file, 'google.protobuf.OneofDescriptorProto');

export interface EnumDescriptorProto {
  readonly name: string;
  readonly value: readonly EnumValueDescriptorProto[];
}
export const EnumDescriptorProto: MessageType<EnumDescriptorProto> = messageType(file, 'google.protobuf.EnumDescriptorProto');

export interface EnumValueDescriptorProto {
  readonly name: string;
  /** Present also for 0. */
  readonly number?: number;
}
export const EnumValueDescriptorProto: MessageType<EnumValueDescriptorProto> = messageType(file, 'google.protobuf.EnumValueDescriptorProto');

export interface MessageOptions {
  readonly map_entry: boolean;
}
export const MessageOptions: MessageType<MessageOptions> = messageType(file, 'google.protobuf.MessageOptions');
