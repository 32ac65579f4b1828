/**
 * NAT44 of VPP, endpoint-dependent: what it does with a packet that enters or leaves by an interface, as
 * the nodes `nat44-ed-classify`, `nat44-ed-out2in`, `nat44-ed-in2out` and `nat44-ed-in2out-output` do.
 */
import { DEFAULT_TABLE } from './nat-index.ts';
import {
  flowText,
  type NatDirection,
  type NatFlow,
  type NatRule,
  type NatSession,
  reverse,
} from './nat-session.ts';
import { type NatDeps, NatTranslations } from './nat-translations.ts';
import { isWithinConnection, type Packet } from './packet.ts';

export type NatOutcome =
  | { readonly kind: 'untranslated' }
  | {
      readonly kind: 'translated';
      readonly rule: NatRule;
      readonly session: NatSession;
    }
  | { readonly kind: 'dropped'; readonly why: string; readonly key: string };

/** The interface by which a packet entered. */
export interface NatInput {
  /** undefined: VPP sends the packet itself. */
  readonly interface: string | undefined;
  readonly table: number;
}

interface Nat44Deps extends NatDeps {
  readonly isOwnAddress: (interfaceName: string, address: string) => boolean;
}

const untranslated: NatOutcome = { kind: 'untranslated' };
const DHCP_CLIENT_PORT = 68;

export class Nat44 {
  readonly #deps: Nat44Deps;
  readonly #translations: NatTranslations;

  constructor(deps: Nat44Deps) {
    this.#deps = deps;
    this.#translations = new NatTranslations(deps);
  }

  /** A packet enters by an interface. */
  input(input: NatInput & { readonly interface: string }, packet: Packet): NatOutcome {
    const sides = this.#deps.index.sides(input.interface);
    const flow = flowOf(packet, input.table);
    if (flow === undefined || sides.size === 0 || sides.has('output-only')) return untranslated;
    const isEither = sides.has('classify') || (sides.has('in') && sides.has('out'));
    const comesFromOutside = isEither
      ? this.#isToOutsideAddress(flow)
      : sides.has('output') || sides.has('out');
    return comesFromOutside
      ? this.#out2in(flow, packet)
      : this.#in2out(flow, packet, input, undefined);
  }

  /** A packet leaves by an interface. */
  output(
    out: { readonly interface: string; readonly table: number },
    input: NatInput,
    packet: Packet,
  ): NatOutcome {
    const flow = flowOf(packet, input.table);
    if (flow === undefined || !this.#isOutput(out.interface)) return untranslated;
    return this.#in2out(flow, packet, input, out.table);
  }

  /** VPP guesses the direction of a packet at an interface that classifies, or is both inside and outside. */
  #isToOutsideAddress(flow: NatFlow): boolean {
    const { index, sessions } = this.#deps;
    const session = sessions.find(flow);
    if (session) return !matches(session.in2out, flow);
    if (index.isInPool(flow.destination)) return true;
    const entry =
      index.exact(flow.destination, 0, flow.protocol) ??
      index.exact(flow.destination, flow.destinationPort, flow.protocol);
    return entry?.kind === 'mapping';
  }

  #out2in(flow: NatFlow, packet: Packet): NatOutcome {
    const { index, sessions } = this.#deps;
    const session = sessions.find(flow);
    if (session) {
      if (session.out2in && matches(session.out2in, flow))
        return this.#use(session, session.out2in, 'out2in', packet);
      if (session.externalHostNat || index.config.forwarding)
        return this.#use(session, session.in2out, 'out2in', packet);
      return isDhcp(flow) ? untranslated : noTranslation(flow);
    }
    const entry = index.byExternal(flow.destination, flow.destinationPort, flow.protocol);
    if (!entry) return this.#withoutMapping(flow);
    if (entry.kind === 'identity') return untranslated;
    if (isWithinConnection(packet)) return noSession(flow, entry.mapping.key);
    const made = this.#translations.toBackend(flow, entry.mapping);
    return made.kind === 'dropped' ? made : this.#use(made.session, made.rule, 'out2in', packet);
  }

  #withoutMapping(flow: NatFlow): NatOutcome {
    if (isDhcp(flow)) return untranslated;
    if (!this.#deps.index.config.forwarding) return noTranslation(flow);
    this.#translations.bypass(flow);
    return untranslated;
  }

  /** @param outTable table of the interface with the output feature; undefined: at the input */
  #in2out(
    flow: NatFlow,
    packet: Packet,
    input: NatInput,
    outTable: number | undefined,
  ): NatOutcome {
    const { sessions, index } = this.#deps;
    if (outTable !== undefined && index.config.forwarding) {
      const session = sessions.find({ ...flow, table: DEFAULT_TABLE });
      if (session?.kind === 'bypass') return this.#use(session, session.in2out, 'in2out', packet);
    }
    const session = sessions.find(flow);
    if (session) {
      if (matches(session.in2out, flow))
        return this.#use(session, session.in2out, 'in2out', packet);
      if (session.isHairpinning && session.out2in)
        return this.#use(session, session.out2in, 'in2out', packet);
      sessions.remove(session);
      return {
        kind: 'dropped',
        why: 'NAT has a session of the opposite direction',
        key: session.key,
      };
    }
    const passes =
      outTable === undefined
        ? this.#passesInput(flow, input)
        : this.#passesOutput(flow, input, outTable);
    if (passes) return untranslated;
    const made = this.#translations.toOutside(flow, packet);
    if (made === 'exempt') return untranslated;
    return made.kind === 'dropped' ? made : this.#use(made.session, made.rule, 'in2out', packet);
  }

  #passesInput(flow: NatFlow, input: NatInput): boolean {
    const { index, sessions, isOwnAddress, hasRoute, outsideTables } = this.#deps;
    if (sessions.find(reverse(flow, DEFAULT_TABLE))) return false;
    const { destination, destinationPort, protocol } = flow;
    if (index.byExternal(destination, destinationPort, protocol)) return false;
    if (index.config.forwarding) return true;
    if (input.interface !== undefined && isOwnAddress(input.interface, destination)) return true;
    return !outsideTables.some((table) => hasRoute(table, destination));
  }

  #passesOutput(flow: NatFlow, input: NatInput, outTable: number): boolean {
    const { sessions } = this.#deps;
    if (sessions.find({ ...flow, table: outTable })) return true;
    const reply = sessions.find(reverse(flow, flow.table));
    if (reply === undefined || reply.kind === 'bypass') return false;
    return input.interface === undefined || !this.#isOutput(input.interface);
  }

  #isOutput(interfaceName: string): boolean {
    const sides = this.#deps.index.sides(interfaceName);
    return sides.has('output') || sides.has('output-only');
  }

  #use(session: NatSession, rule: NatRule, direction: NatDirection, packet: Packet): NatOutcome {
    this.#deps.sessions.use(session, direction, packet);
    if (session.kind === 'bypass') return untranslated;
    return { kind: 'translated', session, rule };
  }
}

/** undefined: NAT translates nothing of it. */
function flowOf(packet: Packet, table: number): NatFlow | undefined {
  const { protocol, source, destination, sourcePort = 0, destinationPort = 0 } = packet;
  if (protocol === undefined || protocol === 'SCTP' || source.includes(':')) return undefined;
  return { protocol, source, sourcePort, destination, destinationPort, table };
}

function matches(rule: NatRule, flow: NatFlow): boolean {
  return flowText(rule.match) === flowText(flow);
}

/** VPP sends DHCP replies to its own client. */
function isDhcp({ protocol, destinationPort }: NatFlow): boolean {
  return protocol === 'UDP' && destinationPort === DHCP_CLIENT_PORT;
}

function noTranslation({ destination, destinationPort }: NatFlow): NatOutcome {
  return {
    kind: 'dropped',
    why: `NAT has no mapping for ${destination}:${destinationPort}, and forwarding is off`,
    key: '',
  };
}

function noSession({ destination, destinationPort }: NatFlow, key: string): NatOutcome {
  return {
    kind: 'dropped',
    why: `NAT has no session of the TCP connection to ${destination}:${destinationPort}`,
    key,
  };
}
