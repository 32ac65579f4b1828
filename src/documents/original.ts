/** The parts that netctl reads of documents in the encoding of the original. */
import { Type } from 'typebox';
import type { DocumentOf } from './document.ts';

/** `GET /dump/vpp/v2/interfaces`, by index. */
export const VppInterfaces = Type.Record(
  Type.String(),
  Type.Object({
    interface: Type.Object({ name: Type.String() }),
    interface_meta: Type.Object({
      sw_if_index: Type.Optional(Type.Integer()),
      internal_name: Type.String(),
    }),
  }),
);

/** `GET /scheduler/dump?view=NB&descriptor=vpp-arp`. */
export const ArpValues = Type.Array(
  Type.Object({ Value: Type.Object({ interface: Type.String(), ipAddress: Type.String() }) }),
);

/** `GET /scheduler/dump?state=SB&descriptor=vpp-interface`. */
export const InterfaceValues = Type.Array(
  Type.Object({
    Value: Type.Object({ name: Type.String(), ipAddresses: Type.Array(Type.String()) }),
  }),
);
export type InterfaceValues = DocumentOf<typeof InterfaceValues>;

/** `POST /vpp/command`: output of a command of VPP. */
export const CommandOutput = Type.String();
