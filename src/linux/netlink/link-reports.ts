/** States and counters of links. */
import type { LinkCounters, LinkReport } from '../api.ts';
import { type Attributes, attributesOf, malformed, numberOf, textOf } from './attributes.ts';
import { FIXED_LENGTH, fixed, hardwareTypes, linkTypes } from './links.ts';
import { flags, type Message } from './messages.ts';
import type { NetlinkSocket } from './socket.ts';

const at = {
  name: 3,
  parent: 5,
  master: 10,
  txQueueLength: 13,
  operState: 16,
  statistics: 23,
  txQueues: 31,
  rxQueues: 32,
} as const;

export function readLinkReports(socket: NetlinkSocket): readonly LinkReport[] {
  const request = {
    type: linkTypes.get,
    flags: flags.request | flags.root | flags.match,
    body: fixed(),
  };
  return socket.dump(request, decodeLinkReport).sort((a, b) => a.index - b.index);
}

export function decodeLinkReport({ body }: Message): LinkReport {
  if (body.length < FIXED_LENGTH) throw malformed('truncated link');
  const attributes = attributesOf(body.subarray(FIXED_LENGTH));
  const name = textOf(attributes, at.name);
  if (name === undefined) throw malformed('link without a name');
  const hardware = body.readUInt16LE(2);
  return {
    index: body.readInt32LE(4),
    name,
    parentIndex: numberOf(attributes, at.parent) ?? 0,
    masterIndex: numberOf(attributes, at.master) ?? 0,
    operState: attributes.get(at.operState)?.[0] ?? 0,
    flags: body.readUInt32LE(8),
    encapsulation: hardwareTypes[hardware] ?? String(hardware),
    rxQueues: numberOf(attributes, at.rxQueues) ?? 0,
    txQueues: numberOf(attributes, at.txQueues) ?? 0,
    txQueueLength: numberOf(attributes, at.txQueueLength) ?? 0,
    counters: countersOf(attributes),
  };
}

/** `struct rtnl_link_stats64`. */
function countersOf(attributes: Attributes): LinkCounters {
  const bytes = attributes.get(at.statistics);
  if (bytes === undefined) throw malformed('link without counters');
  const names = [
    'rxPackets',
    'txPackets',
    'rxBytes',
    'txBytes',
    'rxErrors',
    'txErrors',
    'rxDropped',
    'txDropped',
  ] as const;
  if (bytes.length < names.length * 8) throw malformed(`counters of ${bytes.length} bytes`);
  const counters = names.map((name, position) => [name, bytes.readBigUInt64LE(position * 8)]);
  return Object.fromEntries(counters.map(([name, value]) => [name, Number(value)])) as Record<
    (typeof names)[number],
    number
  >;
}
