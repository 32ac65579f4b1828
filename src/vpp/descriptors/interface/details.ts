import type { SwInterfaceDetails } from '../../binapi/messages.gen.ts';
import type { FoundLease } from './dhcp-dump.ts';

/** State of an interface in VPP, which no value configures. */
export interface InterfaceDetails {
  readonly report: SwInterfaceDetails;
  /** Undefined if the interface neither has nor is to have an address of the family. */
  readonly table4: number | undefined;
  readonly table6: number | undefined;
  /** Of its DHCP client. */
  readonly lease: FoundLease | undefined;
}
