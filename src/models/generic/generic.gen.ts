// Made from generic/generic.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';
import { file as genericDescriptorFile, type FileDescriptorProto, type FileDescriptorSet, type Any } from './descriptor.gen.ts';

export const file: ProtoFile = {
  name: 'generic/generic.proto',
  imports: [genericDescriptorFile],
  nested: { "ligato": { "nested": { "generic": { "nested": { "ModelSpec": { "fields": { "module": { "type": "string", "id": 1 }, "version": { "type": "string", "id": 2 }, "type": { "type": "string", "id": 3 }, "class": { "type": "string", "id": 4 } } }, "ModelDetail": { "fields": { "spec": { "type": "ModelSpec", "id": 1 }, "proto_name": { "type": "string", "id": 2 }, "options": { "rule": "repeated", "type": "Option", "id": 3 } }, "nested": { "Option": { "fields": { "key": { "type": "string", "id": 1 }, "values": { "rule": "repeated", "type": "string", "id": 2 } } } } }, "KnownModelsRequest": { "fields": { "class": { "type": "string", "id": 1 } } }, "KnownModelsResponse": { "fields": { "known_models": { "rule": "repeated", "type": "ModelDetail", "id": 1 }, "active_modules": { "rule": "repeated", "type": "string", "id": 2 } } }, "ProtoFileDescriptorRequest": { "fields": { "full_proto_file_name": { "type": "string", "id": 1 } } }, "ProtoFileDescriptorResponse": { "fields": { "file_descriptor": { "type": "google.protobuf.FileDescriptorProto", "id": 1 }, "file_import_descriptors": { "type": "google.protobuf.FileDescriptorSet", "id": 2 } } }, "MetaService": { "methods": { "KnownModels": { "requestType": "KnownModelsRequest", "responseType": "KnownModelsResponse" }, "ProtoFileDescriptor": { "requestType": "ProtoFileDescriptorRequest", "responseType": "ProtoFileDescriptorResponse" } } }, "Item": { "fields": { "id": { "type": "ID", "id": 1 }, "data": { "type": "Data", "id": 2 } }, "nested": { "ID": { "fields": { "model": { "type": "string", "id": 1 }, "name": { "type": "string", "id": 2 } } } } }, "Data": { "fields": { "any": { "type": "google.protobuf.Any", "id": 1 } } }, "ItemStatus": { "fields": { "status": { "type": "string", "id": 1 }, "message": { "type": "string", "id": 2 } } }, "UpdateItem": { "fields": { "item": { "type": "Item", "id": 1 }, "labels": { "keyType": "string", "type": "string", "id": 2 } } }, "UpdateResult": { "fields": { "key": { "type": "string", "id": 1 }, "op": { "type": "Operation", "id": 2 }, "status": { "type": "ItemStatus", "id": 3 }, "id": { "type": "Item.ID", "id": 4 } }, "nested": { "Operation": { "values": { "UNSPECIFIED": 0, "CREATE": 1, "UPDATE": 2, "DELETE": 3 } } } }, "SetConfigRequest": { "fields": { "updates": { "rule": "repeated", "type": "UpdateItem", "id": 1 }, "overwrite_all": { "type": "bool", "id": 2 } } }, "SetConfigResponse": { "fields": { "results": { "rule": "repeated", "type": "UpdateResult", "id": 1 } } }, "GetConfigRequest": { "fields": { "ids": { "rule": "repeated", "type": "Item.ID", "id": 1 }, "labels": { "keyType": "string", "type": "string", "id": 2 } } }, "ConfigItem": { "fields": { "item": { "type": "Item", "id": 1 }, "status": { "type": "ItemStatus", "id": 2 }, "labels": { "keyType": "string", "type": "string", "id": 3 } } }, "GetConfigResponse": { "fields": { "items": { "rule": "repeated", "type": "ConfigItem", "id": 1 } } }, "DumpStateRequest": { "fields": { "ids": { "rule": "repeated", "type": "Item.ID", "id": 1 } } }, "StateItem": { "fields": { "item": { "type": "Item", "id": 1 }, "metadata": { "keyType": "string", "type": "string", "id": 2 } } }, "DumpStateResponse": { "fields": { "items": { "rule": "repeated", "type": "StateItem", "id": 1 } } }, "Subscription": { "fields": { "id": { "type": "Item.ID", "id": 1 } } }, "SubscribeRequest": { "fields": { "subscriptions": { "rule": "repeated", "type": "Subscription", "id": 1 } } }, "Notification": { "fields": { "item": { "type": "Item", "id": 1 }, "status": { "type": "ItemStatus", "id": 2 } } }, "SubscribeResponse": { "fields": { "notifications": { "rule": "repeated", "type": "Notification", "id": 1 } } }, "ManagerService": { "methods": { "SetConfig": { "requestType": "SetConfigRequest", "responseType": "SetConfigResponse" }, "GetConfig": { "requestType": "GetConfigRequest", "responseType": "GetConfigResponse" }, "DumpState": { "requestType": "DumpStateRequest", "responseType": "DumpStateResponse" }, "Subscribe": { "requestType": "SubscribeRequest", "responseType": "SubscribeResponse", "responseStream": true } } } } } } } },
};

export interface ModelSpec {
  readonly module: string;
  readonly version: string;
  readonly type: string;
  readonly class: string;
}
export const ModelSpec: MessageType<ModelSpec> = messageType(file, 'ligato.generic.ModelSpec');

export interface ModelDetail {
  readonly spec?: ModelSpec;
  /** Full name of the message. */
  readonly proto_name: string;
  readonly options: readonly ModelDetailOption[];
}
export const ModelDetail: MessageType<ModelDetail> = messageType(file, 'ligato.generic.ModelDetail');

export interface ModelDetailOption {
  readonly key: string;
  readonly values: readonly string[];
}
export const ModelDetailOption: MessageType<ModelDetailOption> = messageType(file, 'ligato.generic.ModelDetail.Option');

export interface KnownModelsRequest {
  /** Empty: all. */
  readonly class: string;
}
export const KnownModelsRequest: MessageType<KnownModelsRequest> = messageType(file, 'ligato.generic.KnownModelsRequest');

export interface KnownModelsResponse {
  readonly known_models: readonly ModelDetail[];
  readonly active_modules: readonly string[];
}
export const KnownModelsResponse: MessageType<KnownModelsResponse> = messageType(file, 'ligato.generic.KnownModelsResponse');

export interface ProtoFileDescriptorRequest {
  readonly full_proto_file_name: string;
}
export const ProtoFileDescriptorRequest: MessageType<ProtoFileDescriptorRequest> = messageType(file, 'ligato.generic.ProtoFileDescriptorRequest');

export interface ProtoFileDescriptorResponse {
  readonly file_descriptor?: FileDescriptorProto;
  /** All files that it imports, directly or not. */
  readonly file_import_descriptors?: FileDescriptorSet;
}
export const ProtoFileDescriptorResponse: MessageType<ProtoFileDescriptorResponse> = messageType(file, 'ligato.generic.ProtoFileDescriptorResponse');

export interface Item {
  readonly id?: ItemID;
  /** Absent: the item is to be deleted. */
  readonly data?: Data;
}
export const Item: MessageType<Item> = messageType(file, 'ligato.generic.Item');

export interface ItemID {
  readonly model: string;
  readonly name: string;
}
export const ItemID: MessageType<ItemID> = messageType(file, 'ligato.generic.Item.ID');

export interface Data {
  readonly any?: Any;
}
export const Data: MessageType<Data> = messageType(file, 'ligato.generic.Data');

export interface ItemStatus {
  readonly status: string;
  readonly message: string;
}
export const ItemStatus: MessageType<ItemStatus> = messageType(file, 'ligato.generic.ItemStatus');

export interface UpdateItem {
  readonly item?: Item;
  readonly labels: Readonly<Record<string, string>>;
}
export const UpdateItem: MessageType<UpdateItem> = messageType(file, 'ligato.generic.UpdateItem');

export interface UpdateResult {
  readonly key: string;
  readonly op: UpdateResultOperation;
  readonly status?: ItemStatus;
  readonly id?: ItemID;
}
export const UpdateResult: MessageType<UpdateResult> = messageType(file, 'ligato.generic.UpdateResult');

export type UpdateResultOperation =
  | 'UNSPECIFIED'
  | 'CREATE'
  | 'UPDATE'
  | 'DELETE';

export interface SetConfigRequest {
  readonly updates: readonly UpdateItem[];
  /** All other items are removed. */
  readonly overwrite_all: boolean;
}
export const SetConfigRequest: MessageType<SetConfigRequest> = messageType(file, 'ligato.generic.SetConfigRequest');

export interface SetConfigResponse {
  readonly results: readonly UpdateResult[];
}
export const SetConfigResponse: MessageType<SetConfigResponse> = messageType(file, 'ligato.generic.SetConfigResponse');

export interface GetConfigRequest {
  readonly ids: readonly ItemID[];
  readonly labels: Readonly<Record<string, string>>;
}
export const GetConfigRequest: MessageType<GetConfigRequest> = messageType(file, 'ligato.generic.GetConfigRequest');

export interface ConfigItem {
  readonly item?: Item;
  readonly status?: ItemStatus;
  readonly labels: Readonly<Record<string, string>>;
}
export const ConfigItem: MessageType<ConfigItem> = messageType(file, 'ligato.generic.ConfigItem');

export interface GetConfigResponse {
  readonly items: readonly ConfigItem[];
}
export const GetConfigResponse: MessageType<GetConfigResponse> = messageType(file, 'ligato.generic.GetConfigResponse');

export interface DumpStateRequest {
  readonly ids: readonly ItemID[];
}
export const DumpStateRequest: MessageType<DumpStateRequest> = messageType(file, 'ligato.generic.DumpStateRequest');

export interface StateItem {
  readonly item?: Item;
  readonly metadata: Readonly<Record<string, string>>;
}
export const StateItem: MessageType<StateItem> = messageType(file, 'ligato.generic.StateItem');

export interface DumpStateResponse {
  readonly items: readonly StateItem[];
}
export const DumpStateResponse: MessageType<DumpStateResponse> = messageType(file, 'ligato.generic.DumpStateResponse');

export interface Subscription {
  readonly id?: ItemID;
}
export const Subscription: MessageType<Subscription> = messageType(file, 'ligato.generic.Subscription');

export interface SubscribeRequest {
  readonly subscriptions: readonly Subscription[];
}
export const SubscribeRequest: MessageType<SubscribeRequest> = messageType(file, 'ligato.generic.SubscribeRequest');

export interface Notification {
  readonly item?: Item;
  readonly status?: ItemStatus;
}
export const Notification: MessageType<Notification> = messageType(file, 'ligato.generic.Notification');

export interface SubscribeResponse {
  readonly notifications: readonly Notification[];
}
export const SubscribeResponse: MessageType<SubscribeResponse> = messageType(file, 'ligato.generic.SubscribeResponse');

export const MetaServiceService = {
  KnownModels: {
    path: '/ligato.generic.MetaService/KnownModels',
    request: KnownModelsRequest,
    response: KnownModelsResponse,
    requestStream: false,
    responseStream: false,
  },
  ProtoFileDescriptor: {
    path: '/ligato.generic.MetaService/ProtoFileDescriptor',
    request: ProtoFileDescriptorRequest,
    response: ProtoFileDescriptorResponse,
    requestStream: false,
    responseStream: false,
  },
} as const;

export const ManagerServiceService = {
  SetConfig: {
    path: '/ligato.generic.ManagerService/SetConfig',
    request: SetConfigRequest,
    response: SetConfigResponse,
    requestStream: false,
    responseStream: false,
  },
  GetConfig: {
    path: '/ligato.generic.ManagerService/GetConfig',
    request: GetConfigRequest,
    response: GetConfigResponse,
    requestStream: false,
    responseStream: false,
  },
  DumpState: {
    path: '/ligato.generic.ManagerService/DumpState',
    request: DumpStateRequest,
    response: DumpStateResponse,
    requestStream: false,
    responseStream: false,
  },
  Subscribe: {
    path: '/ligato.generic.ManagerService/Subscribe',
    request: SubscribeRequest,
    response: SubscribeResponse,
    requestStream: false,
    responseStream: true,
  },
} as const;
