/** The state of the handler: the plan, the records, and which attachment owns which addresses. */
import type { CodedError } from '#infra/errors/errors.ts';
import type { Table } from '#plugins/controller/api/table.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import { AddressPools } from './address-pools.ts';
import type { AddressRecord } from './address-record.ts';
import type { AddressRecords } from './address-records.ts';
import type { Plan } from './plan.ts';
import type { PlanRecord } from './plan-record.ts';
import type { PodRecordAddresses } from './pod-record-addresses.ts';

/** The owner of an address in its record. */
export type Owner = Pick<AddressRecord, 'pod' | 'podUid' | 'attachment'>;

export interface IpamState {
  /** An update may replace the pod subnets of other nodes. */
  plan: Plan;
  /** The records in the local store, which the first resync reads. */
  readonly records: AddressRecords;
  readonly planRecord: PlanRecord;
  /** Why the configured subnets are not in effect. */
  readonly problem: CodedError | undefined;
  readonly pools: AddressPools;
  readonly podRecords: PodRecordAddresses;
  /** Addresses of each attachment that owns some: one of each family, the primary one first. */
  readonly owned: Table<AttachmentId, readonly string[]>;
}

export function isInUse({ records, owned }: IpamState, address: string): boolean {
  const record = records.get(address);
  return record !== undefined && (owned.get(record.attachment)?.includes(address) ?? false);
}

export function poolsOf({ own }: Plan): AddressPools {
  return new AddressPools(own.map(({ pods }) => pods));
}
