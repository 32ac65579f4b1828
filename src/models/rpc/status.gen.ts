// Made from rpc/status.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'rpc/status.proto',
  imports: [],
  nested: { "google": { "nested": { "rpc": { "nested": { "Status": { "fields": { "code": { "type": "int32", "id": 1 }, "message": { "type": "string", "id": 2 }, "details": { "rule": "repeated", "type": "Detail", "id": 3 } }, "nested": { "Detail": { "fields": { "type_url": { "type": "string", "id": 1 }, "value": { "type": "bytes", "id": 2 } } } } }, "BadRequest": { "fields": { "field_violations": { "rule": "repeated", "type": "FieldViolation", "id": 1 } }, "nested": { "FieldViolation": { "fields": { "field": { "type": "string", "id": 1 }, "description": { "type": "string", "id": 2 }, "reason": { "type": "string", "id": 3 } } } } } } } } } },
};

/** The status of a call that failed, in the trailer grpc-status-details-bin. */
export interface Status {
  readonly code: number;
  readonly message: string;
  readonly details: readonly StatusDetail[];
}
export const Status: MessageType<Status> = messageType(file, 'google.rpc.Status');

/** google.protobuf.Any */
export interface StatusDetail {
  readonly type_url: string;
  readonly value: string;
}
export const StatusDetail: MessageType<StatusDetail> = messageType(file, 'google.rpc.Status.Detail');

/** The parts of a request that are at fault. */
export interface BadRequest {
  readonly field_violations: readonly BadRequestFieldViolation[];
}
export const BadRequest: MessageType<BadRequest> = messageType(file, 'google.rpc.BadRequest');

export interface BadRequestFieldViolation {
  /** `StaticRoutes[3]` */
  readonly field: string;
  readonly description: string;
  /** Stable code, `CV_…`. */
  readonly reason: string;
}
export const BadRequestFieldViolation: MessageType<BadRequestFieldViolation> = messageType(file, 'google.rpc.BadRequest.FieldViolation');
