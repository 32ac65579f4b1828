/** Translations of a packet in VPP: by NAT44, and by cnat in IPv6. */
import { sameAddress } from './addresses.ts';
import { CNAT_TABLE, type CnatOutcome, translateByCnat, translateSource } from './cnat.ts';
import { lookUp } from './fib.ts';
import type { TraceMemory } from './memory.ts';
import { NatIndex } from './nat-index.ts';
import { natText } from './nat-text.ts';
import type { Choose } from './nat-translations.ts';
import { Nat44, type NatOutcome } from './nat44.ts';
import type { CarriedPacket } from './packet.ts';
import type { Device, Interface } from './snapshot.ts';
import { tableOf } from './table-of.ts';

export interface Translation {
  readonly packet: CarriedPacket;
  /** In which it is looked up; undefined: that of the interface. */
  readonly table?: number | undefined;
  /** undefined: it was not translated. */
  readonly hop?: TranslationHop;
}

interface TranslationHop {
  readonly text: string;
  /** Key of the value that decided. */
  readonly key: string;
  readonly isDropped?: true;
}

interface Means {
  readonly memory: TraceMemory;
  readonly choose: Choose;
}

/** @param evaluate what NAT44 does where the packet is */
export function byNat44(
  device: Device,
  packet: CarriedPacket,
  evaluate: (nat: Nat44) => NatOutcome,
  { memory, choose }: Means,
): Translation {
  if (!device.nat || packet.protocol === undefined) return { packet };
  const index = NatIndex.of(device.nat);
  const outcome = evaluate(
    new Nat44({
      index,
      sessions: memory(device.name).nat,
      choose,
      hasRoute: (table, address) => lookUp(device, table, address)?.action?.kind === 'via',
      outsideTables: index.outsides.flatMap((name) => device.interfaces.get(name)?.table ?? []),
      isOwnAddress: (name, address) =>
        device.interfaces.get(name)?.addresses.some((own) => sameAddress(own, address)) ?? false,
    }),
  );
  if (outcome.kind === 'untranslated') return { packet };
  if (outcome.kind === 'dropped')
    return { packet, hop: { text: outcome.why, key: outcome.key, isDropped: true } };
  const { rule, session } = outcome;
  const { source, sourcePort, destination, destinationPort, table } = rule;
  return {
    packet: { ...packet, source, sourcePort, destination, destinationPort },
    table,
    hop: { text: natText(session, rule, index), key: session.key },
  };
}

/**
 * That of cnat, where a packet is looked up in its table.
 *
 * @param input by which it entered; undefined: VPP sends it
 */
export function byCnat(
  device: Device,
  packet: CarriedPacket,
  input: Interface | undefined,
  { memory, choose }: Means,
): Translation {
  if (!device.cnat) return { packet };
  const table = input ? tableOf(input, packet.destination) : CNAT_TABLE;
  const { cnat } = memory(device.name);
  return afterCnat(packet, translateByCnat(device.cnat, cnat, packet, table, choose));
}

/** That of cnat, where a packet enters by the interface of its source NAT. */
export function bySourceNat(
  { name, cnat }: Device,
  packet: CarriedPacket,
  port: Interface,
  { memory }: Means,
): Translation {
  if (cnat?.sourceNat?.interface !== port.name) return { packet };
  return afterCnat(packet, translateSource(cnat, cnat.sourceNat, memory(name).cnat, packet));
}

function afterCnat(packet: CarriedPacket, outcome: CnatOutcome | undefined): Translation {
  if (outcome === undefined) return { packet };
  const { text, key } = outcome;
  return { packet: { ...packet, ...outcome.packet }, hop: { text, key } };
}
