// Made from id-alloc.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '#models/message.ts';

export const file: ProtoFile = {
  name: 'id-alloc.proto',
  imports: [],
  nested: { "idallocation": { "nested": { "AllocationPool": { "fields": { "name": { "type": "string", "id": 1 }, "range": { "type": "Range", "id": 2 }, "id_allocations": { "keyType": "string", "type": "Allocation", "id": 3 } }, "nested": { "Range": { "fields": { "min_id": { "type": "uint32", "id": 1 }, "max_id": { "type": "uint32", "id": 2 }, "reserved": { "rule": "repeated", "type": "uint32", "id": 3 } } }, "Allocation": { "fields": { "id": { "type": "uint32", "id": 1 }, "owner": { "type": "string", "id": 2 } } } } } } } },
};

/** Numbers allocated cluster-wide by label, for example VNIs. */
export interface AllocationPool {
  readonly name: string;
  readonly range?: AllocationPoolRange;
  readonly id_allocations: Readonly<Record<string, AllocationPoolAllocation>>;
}
export const AllocationPool: MessageType<AllocationPool> = messageType(file, 'idallocation.AllocationPool');

export interface AllocationPoolRange {
  readonly min_id: number;
  readonly max_id: number;
  /** Never allocated. */
  readonly reserved: readonly number[];
}
export const AllocationPoolRange: MessageType<AllocationPoolRange> = messageType(file, 'idallocation.AllocationPool.Range');

export interface AllocationPoolAllocation {
  readonly id: number;
  /** Owner, which may release it. */
  readonly owner: string;
}
export const AllocationPoolAllocation: MessageType<AllocationPoolAllocation> = messageType(file, 'idallocation.AllocationPool.Allocation');
