/** Addresses of a NIC with everything that restores them: `struct ifaddrmsg` and its attributes. */
import { addressBytes, addressText, familyOf, isV6, networkOf } from '#linux/netlink/addresses.ts';
import {
  attribute,
  attributesOf,
  malformed,
  numberAttribute,
  numberOf,
  textAttribute,
  textOf,
  zeros,
} from '#linux/netlink/attributes.ts';
import { addressTypes } from '#linux/netlink/link-addresses.ts';
import { flags, type Message, type Request } from '#linux/netlink/messages.ts';
import type { NicAddress } from './nic-record.ts';

const FIXED_LENGTH = 8;
const at = {
  address: 1,
  local: 2,
  label: 3,
  broadcast: 4,
  lifetime: 6,
  flags: 8,
  metric: 9,
  protocol: 11,
} as const;

/** `nodad`, `home`, `mngtmpaddr`, `noprefixroute`, `autojoin`; the others are states. */
const USER_FLAGS = 0x02 | 0x10 | 0x100 | 0x200 | 0x400;
const UNLIMITED = 0xffff_ffff;
const LIFETIME_LENGTH = 16;

export function dumpAddresses(family: number): Request {
  const fixed = zeros(FIXED_LENGTH);
  fixed[0] = family;
  return {
    type: addressTypes.get,
    flags: flags.request | flags.root | flags.match,
    body: fixed,
  };
}

export function decodeAddress({ body: bytes }: Message): {
  readonly index: number;
  readonly address: NicAddress;
} {
  if (bytes.length < FIXED_LENGTH) throw malformed('truncated address');
  const attributes = attributesOf(bytes.subarray(FIXED_LENGTH));
  const remote = attributes.get(at.address);
  const local = attributes.get(at.local) ?? remote;
  if (local === undefined) throw malformed('address message without an address');
  const broadcast = attributes.get(at.broadcast);
  const label = textOf(attributes, at.label);
  const metric = numberOf(attributes, at.metric);
  const protocol = attributes.get(at.protocol)?.[0];
  const lifetime = lifetimeOf(attributes.get(at.lifetime));
  return {
    index: bytes.readUInt32LE(4),
    address: {
      address: `${addressText(local)}/${bytes[1]}`,
      ...(remote && !remote.equals(local) && { peer: addressText(remote) }),
      ...(broadcast && { broadcast: addressText(broadcast) }),
      ...(label !== undefined && { label }),
      scope: bytes[3]!,
      flags: (numberOf(attributes, at.flags) ?? bytes[2]!) & USER_FLAGS,
      ...(metric !== undefined && { metric }),
      ...(protocol !== undefined && { protocol }),
      ...(lifetime && { lifetime }),
    },
  };
}

function lifetimeOf(bytes: Buffer | undefined): NicAddress['lifetime'] {
  if (bytes === undefined || bytes.length < 8) return undefined;
  const [preferred, valid] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
  return valid === UNLIMITED && preferred === UNLIMITED ? undefined : { preferred, valid };
}

export function addAddress(index: number, given: NicAddress): Request {
  const { address, peer, broadcast, label, scope, metric, protocol, lifetime } = given;
  const { bytes, length } = networkOf(address);
  const fixed = zeros(FIXED_LENGTH);
  fixed[0] = familyOf(address);
  fixed[1] = length;
  fixed[2] = given.flags & 0xff;
  fixed[3] = scope;
  fixed.writeUInt32LE(index, 4);
  const times = zeros(LIFETIME_LENGTH);
  if (lifetime) {
    times.writeUInt32LE(lifetime.preferred, 0);
    times.writeUInt32LE(lifetime.valid, 4);
  }
  return {
    type: addressTypes.new,
    flags: flags.request | flags.ack | flags.create | flags.exclusive,
    body: Buffer.concat([
      fixed,
      attribute(at.local, bytes),
      attribute(at.address, peer === undefined ? bytes : addressBytes(peer)),
      numberAttribute(at.flags, given.flags),
      ...(broadcast === undefined ? [] : [attribute(at.broadcast, addressBytes(broadcast))]),
      ...(label === undefined || isV6(address) ? [] : [textAttribute(at.label, label)]),
      ...(metric === undefined ? [] : [numberAttribute(at.metric, metric)]),
      ...(protocol === undefined ? [] : [attribute(at.protocol, Uint8Array.of(protocol))]),
      ...(lifetime ? [attribute(at.lifetime, times)] : []),
    ]),
  };
}
