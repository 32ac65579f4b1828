/**
 * The record of a NIC that was taken from the host: its configuration there. It is all that is needed to give
 * the NIC back; it is also the content of the file on the disk.
 */
import { type Static, Type } from 'typebox';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0, maximum: 0xffff_ffff });
const Byte = Type.Integer({ minimum: 0, maximum: 255 });
/** Attributes of the kernel that are only stored and sent back. */
const Hex = Type.String({ pattern: '^([0-9a-f]{2})*$' });

const addressSchema = Type.Object({
  /** With prefix length: `10.1.1.2/24`. */
  address: Text,
  /** Other end of a point-to-point link. */
  peer: Type.Optional(Text),
  broadcast: Type.Optional(Text),
  label: Type.Optional(Text),
  scope: Byte,
  /** `IFA_F_…` bits that were set by a user, for example `noprefixroute`. */
  flags: Count,
  /** Of the route to the network of the address. */
  metric: Type.Optional(Count),
  protocol: Type.Optional(Byte),
  /** Seconds that were left; absent: unlimited. */
  lifetime: Type.Optional(Type.Object({ preferred: Count, valid: Count })),
});

const hopFields = {
  gateway: Type.Optional(Text),
  /** Gateway of the other family. */
  via: Type.Optional(Hex),
  encapsulationType: Type.Optional(Hex),
  encapsulation: Type.Optional(Hex),
  realms: Type.Optional(Count),
};

const nextHopSchema = Type.Object({
  ...hopFields,
  device: Text,
  /** As in `ip route`, less one. */
  weight: Byte,
  flags: Byte,
});

const routeSchema = Type.Object({
  ...hopFields,
  /** `0.0.0.0/0` and `::/0` are the default routes. */
  destination: Text,
  /** Only packets from this network; IPv6. */
  source: Type.Optional(Text),
  tos: Byte,
  table: Count,
  /** Numbers of `rtm_protocol`, `rtm_scope`, `rtm_type`, bits of `rtm_flags` that a user sets. */
  protocol: Byte,
  scope: Byte,
  type: Byte,
  flags: Count,
  preferredSource: Type.Optional(Text),
  metric: Type.Optional(Count),
  /** MTU, window and the like. */
  metrics: Type.Optional(Hex),
  preference: Type.Optional(Hex),
  /** Seconds that were left; absent: unlimited. */
  expires: Type.Optional(Count),
  /** Of a route over several devices or gateways. */
  nextHops: Type.Optional(Type.Array(nextHopSchema)),
});

export const nicRecordSchema = Type.Object({
  /** Of this file's form. */
  version: Type.Literal(1),
  /** `stolen`: VPP may use the NIC. `releasing`: it is being given back to the host. */
  state: Type.Union([Type.Literal('stolen'), Type.Literal('releasing')]),
  name: Text,
  /** For example `0000:0b:00.0`. */
  pciAddress: Text,
  /** Driver of the PCI device when it was taken. */
  driver: Text,
  /** Whether a DHCP client of the host configures addresses and routes. */
  dhcp: Type.Boolean(),
  /** Of the boot in which it was taken. */
  bootId: Text,
  link: Type.Object({ up: Type.Boolean(), mtu: Count, mac: Type.Optional(Text) }),
  addresses: Type.Array(addressSchema),
  routes: Type.Array(routeSchema),
});

export type NicAddress = Static<typeof addressSchema>;
export type NicRoute = Static<typeof routeSchema>;
export type NicNextHop = Static<typeof nextHopSchema>;
export type NicRecord = Static<typeof nicRecordSchema>;
