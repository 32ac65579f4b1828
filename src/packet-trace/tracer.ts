/**
 * Traces a packet through a snapshot, hop by hop, as VPP and Linux forward it, and records for each
 * hop the value that decided. One direction only: trace the reply as a packet of its own.
 *
 * Assumptions: state that is learned rather than configured is present (neighbors on a wire, MACs),
 * and no packet is lost at random.
 */
import { evaluateAcls } from './acl.ts';
import type { AclSide } from './acl-session.ts';
import { bridgeOf, forwardingBlock } from './bridge.ts';
import { CNAT_TABLE } from './cnat.ts';
import { DeviceIndex } from './device-index.ts';
import { findAddress, lookUp } from './fib.ts';
import { ledPacket } from './led-packet.ts';
import { type TraceMemory, traceMemory } from './memory.ts';
import type { Choose } from './nat-translations.ts';
import type { CarriedPacket, Packet } from './packet.ts';
import { policyDenial } from './policy-denial.ts';
import type { Bridge, Device, Interface, Snapshot } from './snapshot.ts';
import { connected, seen } from './socket-end.ts';
import { tableOf } from './table-of.ts';
import { byCnat, byNat44, bySourceNat, type Translation } from './translation.ts';
import { encapsulated, encrypted, type LostPacket, type OuterPacket, opened } from './tunnels.ts';
import { nameOfEnd, peerOf } from './wireguard.ts';
import { hasAddress, receiverOf, receiversOn, wiresOf } from './wires.ts';

export interface Hop {
  readonly device: string;
  /** Description of the event at the device: a sentence without a subject. */
  readonly description: string;
  /** Key of the value that decided; empty if no configured value did. */
  readonly key: string;
}

export interface PacketTrace {
  readonly hops: readonly Hop[];
  /** The last hop describes where and why. */
  readonly verdict: 'delivered' | 'dropped' | 'refused' | 'left';
  /** The packet that arrived or left, as it was translated on its way; else the one that was sent. */
  readonly packet: Packet;
  /** Device of the last hop. */
  readonly device: string;
}

/** A packet at an interface, as the counters of the device notice it. */
export interface Sighting {
  readonly device: string;
  readonly interface: string;
  /** `permitted` and `denied`: by the ACLs of the interface on one side. */
  readonly kind: 'received' | 'sent' | 'permitted' | 'denied';
  /** Of the ACLs; of the interface for `received` and `sent`. */
  readonly side: AclSide;
}

export interface TraceOptions {
  /**
   * Sessions of NATs and ACLs. The trace adds to it; give it to the trace of the reply. Default: empty.
   */
  readonly memory?: TraceMemory;
  /** Chooses a backend of a balanced mapping; default: the first one. */
  readonly choose?: Choose;
  /** Called in the order of the events. Copies of a flooded frame that are not delivered are among them. */
  readonly observe?: (sighting: Sighting) => void;
}

/** A longer trace is considered a loop; the longest path in a cluster has 20 hops. */
const MAX_HOPS = 64;

/** @param start name of the device that sends the packet */
export function tracePacket(
  snapshot: Snapshot,
  start: string,
  packet: Packet,
  { memory = traceMemory(), choose = () => 0, observe = () => undefined }: TraceOptions = {},
): PacketTrace {
  const tracer = new Tracer(snapshot, { memory, choose, observe });
  const device = snapshot.devices.get(start);
  if (!device) throw new Error(`unknown device ${start}`);
  const sent = tracer.connect(device, packet);
  const verdict =
    sent === 'refused' ? sent : tracer.route(device, 0, { ...sent, inner: undefined }, ownPacket);
  const last = tracer.hops.at(-1)?.device ?? start;
  return { hops: tracer.hops, verdict, packet: tracer.last ?? packet, device: last };
}

/** How a packet came to be routed. */
interface Origin {
  /** Whether the device sends it itself. */
  readonly isOwn: boolean;
  /** The interface by which it, or what it contains, entered. */
  readonly input: Interface | undefined;
}

const ownPacket: Origin = { isOwn: true, input: undefined };

class Tracer {
  readonly hops: Hop[] = [];
  readonly #snapshot: Snapshot;
  /** Frames by the bridge member that they entered: a repeated one is in a loop. */
  readonly #forwardedFrames = new Set<string>();

  readonly #memory: TraceMemory;
  readonly #choose: Choose;
  readonly #means: { readonly memory: TraceMemory; readonly choose: Choose };
  readonly #observe: (sighting: Sighting) => void;
  /** The packet that arrived, or that left. */
  last: Packet | undefined;

  constructor(snapshot: Snapshot, { memory, choose, observe }: Required<TraceOptions>) {
    this.#snapshot = snapshot;
    this.#memory = memory;
    this.#choose = choose;
    this.#means = { memory, choose };
    this.#observe = observe;
  }

  /** The packet that leaves the socket which sends it. */
  connect(device: Device, packet: Packet): Packet | 'refused' {
    const sent = connected(device, packet, this.#memory(device.name).sockets, this.#choose);
    if ('refusal' in sent) {
      this.#hop(device, `refused: ${sent.refusal}`, sent.key);
      return 'refused';
    }
    if (sent.hop) this.#hop(device, sent.hop.text, sent.hop.key);
    return sent.packet;
  }

  /**
   * Routes a packet that the device sends itself, or that entered by an interface of the table.
   * @param by which address of the packet is looked up
   */
  route(
    device: Device,
    table: number,
    packet: CarriedPacket,
    origin: Origin,
    by: 'destination' | 'source' = 'destination',
  ): PacketTrace['verdict'] {
    if (this.hops.length >= MAX_HOPS)
      return this.#drop(device, 'the packet is in a forwarding loop', '');
    if (by === 'destination' && table === CNAT_TABLE) {
      const translation = byCnat(device, packet, origin.input, this.#means);
      const translated = this.#translated(device, translation);
      // a reply may go to an address that is translated itself
      if (translation.hop && translated) return this.route(device, table, translated, origin);
    }
    const address = packet[by];
    const holder = by === 'source' ? undefined : findAddress(device, table, address);
    if (holder) return this.#receive(device, table, holder.interface, packet);
    if (!origin.isOwn && !device.forwards)
      return this.#drop(
        device,
        `${packet.destination} is not a local address, and the device does not forward`,
        '',
      );
    const found = lookUp(device, table, address);
    if (!found && device.hasOtherRoutes) {
      this.last = packet;
      this.#hop(device, `leaves by an unknown route to ${packet.destination}`, '');
      return 'left';
    }
    const lost =
      !found || found.action?.kind === 'drop' ? peerOf(device, table, address) : undefined;
    if (lost) {
      const name = nameOfEnd(this.#snapshot, lost);
      return this.#drop(device, `no session of WireGuard with ${name} is established`, lost.key);
    }
    if (!found) return this.#drop(device, `no route to ${address} in table ${table}`, '');
    const { route, action, paths } = found;
    const name = `route ${route.destination} of table ${table}`;
    const choice = paths > 1 ? ` (the first of ${paths} paths)` : '';
    if (!action) return this.#drop(device, `${name} has an unreachable next hop`, route.key);
    if (action.kind === 'drop') return this.#drop(device, `${name} drops`, route.key);
    if (action.kind === 'refuse') {
      this.#hop(device, `refused: ${name} reports the destination as unreachable`, route.key);
      return 'refused';
    }
    if (action.kind === 'table') {
      this.#hop(device, `${name} leads to table ${action.table}${choice}`, route.key);
      return this.route(device, action.table, packet, origin);
    }
    if (action.kind === 'source-table') {
      const text = `${name} leads by the source ${packet.source} to table ${action.table}${choice}`;
      this.#hop(device, text, route.key);
      return this.route(device, action.table, packet, origin, 'source');
    }
    const nextHop = action.nextHop ?? packet.destination;
    this.#hop(device, `${name} leads to ${nextHop} on ${action.interface}${choice}`, route.key);
    return this.#send(device, action.interface, nextHop, packet, origin);
  }

  #receive(
    device: Device,
    table: number,
    holder: Interface | undefined,
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    if (!packet.inner) {
      const received = seen(device, packet, this.#memory(device.name).sockets);
      if (received.hop) this.#hop(device, received.hop.text, received.hop.key);
      this.last = received.packet;
      const where = holder ? ` on ${holder.name}` : '';
      this.#hop(device, `delivered: ${packet.destination} is local${where}`, holder?.key ?? '');
      return 'delivered';
    }
    const inner = opened(device, table, packet, packet.inner);
    if ('why' in inner) return this.#drop(device, inner.why, inner.key);
    this.#hop(device, inner.text, inner.key);
    return this.#enter(device, inner.port, inner.mac, inner.packet);
  }

  /** Sends a packet by an interface to the next hop. */
  #send(
    device: Device,
    exit: string,
    nextHop: string,
    sent: CarriedPacket,
    { input }: Origin,
  ): PacketTrace['verdict'] {
    const out = device.interfaces.get(exit);
    if (!out) return this.#drop(device, `interface ${exit} does not exist`, '');
    if (!out.up) return this.#drop(device, `${exit} is down`, out.key);
    const at = { interface: exit, table: out.table };
    const from = { interface: input?.name, table: input?.table ?? 0 };
    const packet = this.#translated(
      device,
      byNat44(device, sent, (nat) => nat.output(at, from, sent), this.#means),
    );
    // VPP translates before it compares the packet with ACLs
    if (!packet || !this.#passesAcls(device, exit, 'output', packet)) return 'dropped';
    const known = DeviceIndex.of(device).neighbor(exit, nextHop);
    if (known) this.#hop(device, `${nextHop} is at ${known.mac}`, known.key);
    const bridge = device.bridges.find(({ routed }) => routed === exit);
    if (bridge) {
      if (!known) return this.#drop(device, `the MAC of ${nextHop} is unknown`, '');
      // the packet enters the bridge by the BVI
      if (!this.#passesAcls(device, exit, 'input', packet)) return 'dropped';
      this.#see(device, exit, 'sent');
      return this.#bridge(device, bridge, exit, known.mac, packet);
    }
    if (out.wireguard) {
      this.#see(device, exit, 'sent');
      return this.#sendOuter(device, encrypted(this.#snapshot, out, nextHop, packet), input);
    }
    const { tunnel, key } = out;
    if (tunnel) {
      if (!known) return this.#drop(device, `the MAC of ${nextHop} is unknown`, '');
      this.#see(device, exit, 'sent');
      return this.#sendOuter(device, encapsulated(tunnel, key, known.mac, packet), input);
    }
    return this.#transmit(device, out, { mac: known?.mac, nextHop }, packet);
  }

  /** Forwards a frame that entered a bridge by one of its members. */
  #bridge(
    device: Device,
    bridge: Bridge,
    from: string,
    mac: string,
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    const frame = [device.name, bridge.name, from, mac, JSON.stringify(packet)].join(' ');
    if (this.#forwardedFrames.has(frame))
      return this.#drop(device, 'the frame is in a forwarding loop', bridge.key);
    this.#forwardedFrames.add(frame);
    const routed = bridge.routed === undefined ? undefined : device.interfaces.get(bridge.routed);
    if (routed && routed.name !== from && routed.mac === mac) {
      this.#hop(device, `bridge ${bridge.name}: ${mac} is the BVI ${routed.name}`, bridge.key);
      if (!routed.up) return this.#drop(device, `${routed.name} is down`, routed.key);
      this.#see(device, routed.name, 'received');
      return this.#input(device, routed, packet);
    }
    const entry = bridge.entries.find((one) => one.mac === mac);
    if (entry) {
      if (entry.interface === undefined)
        return this.#drop(device, `bridge ${bridge.name} drops frames to ${mac}`, entry.key);
      this.#hop(device, `bridge ${bridge.name} has ${mac} behind ${entry.interface}`, entry.key);
      const reason = forwardingBlock(bridge, from, entry.interface);
      if (reason !== undefined) return this.#drop(device, reason, bridge.key);
      return this.#sendFromMember(device, { from, to: entry.interface }, mac, packet);
    }
    if (!bridge.floods)
      return this.#drop(
        device,
        `bridge ${bridge.name} has no entry for ${mac} and does not flood`,
        bridge.key,
      );
    this.#hop(device, `bridge ${bridge.name} has no entry for ${mac} and floods`, bridge.key);
    return this.#flood(device, bridge, from, mac, packet);
  }

  /** Follows the copy that is delivered, or else the first one that leaves. */
  #flood(
    device: Device,
    bridge: Bridge,
    from: string,
    mac: string,
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    const before = this.hops.length;
    let left: readonly Hop[] | undefined;
    for (const { interface: member } of bridge.members) {
      if (forwardingBlock(bridge, from, member) !== undefined) continue;
      const verdict = this.#sendFromMember(device, { from, to: member }, mac, packet);
      if (verdict === 'delivered') return verdict;
      const hops = this.hops.splice(before);
      if (verdict === 'left') left ??= hops;
    }
    if (left) {
      this.hops.push(...left);
      return 'left';
    }
    return this.#drop(device, `no flooded copy for ${mac} is delivered`, '');
  }

  /** Sends a frame by a member of a bridge. */
  #sendFromMember(
    device: Device,
    { from, to }: { readonly from: string; readonly to: string },
    mac: string,
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    const out = device.interfaces.get(to);
    if (!out) return this.#drop(device, `interface ${to} does not exist`, '');
    // VPP encapsulates and decapsulates regardless of the state of the tunnel interface.
    if (!out.tunnel && !out.up) return this.#drop(device, `${to} is down`, out.key);
    if (!this.#passesAcls(device, to, 'output', packet)) return 'dropped';
    const { tunnel, key } = out;
    if (tunnel) {
      const input = device.interfaces.get(from);
      this.#see(device, to, 'sent');
      return this.#sendOuter(device, encapsulated(tunnel, key, mac, packet), input);
    }
    return this.#transmit(device, out, { mac, nextHop: undefined }, packet);
  }

  /** @param input by which the packet in it entered */
  #sendOuter(
    device: Device,
    outer: OuterPacket | LostPacket,
    input: Interface | undefined,
  ): PacketTrace['verdict'] {
    if ('why' in outer) return this.#drop(device, outer.why, outer.key);
    this.#hop(device, outer.text, outer.key);
    return this.route(device, outer.table, outer.packet, { isOwn: true, input });
  }

  /** Sends a frame on the wire; without a MAC, the receiver is found by the next hop's address. */
  #transmit(
    device: Device,
    out: Interface,
    { mac, nextHop }: { readonly mac: string | undefined; readonly nextHop: string | undefined },
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    this.#see(device, out.name, 'sent');
    // what a loopback transmits, it receives
    if (out.isLoopback && mac !== undefined && mac === out.mac)
      return this.#enter(device, out, mac, packet);
    const wires = wiresOf(this.#snapshot, device, out);
    const heard = receiversOn(wires, this.#snapshot, device, out);
    const holder = heard.find(
      ({ device: other, port }) => nextHop !== undefined && hasAddress(other, port, nextHop),
    );
    const receiver = mac === undefined ? holder : receiverOf(heard, mac, holder);
    const who = mac ?? nextHop;
    if (!receiver && wires.some(({ isOpen }) => isOpen)) {
      this.last = packet;
      this.#hop(device, `leaves by ${out.name} to ${who}, which is not in the snapshot`, out.key);
      return 'left';
    }
    if (!receiver) return this.#drop(device, `no device behind ${out.name} has ${who}`, out.key);
    return this.#enter(receiver.device, receiver.port, mac ?? receiver.port.mac, packet);
  }

  #enter(
    device: Device,
    port: Interface,
    mac: string,
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    this.#see(device, port.name, 'received');
    const bridge = bridgeOf(device, port.name);
    if (bridge) {
      if (!this.#passesAcls(device, port.name, 'input', packet)) return 'dropped';
      return this.#bridge(device, bridge, port.name, mac, packet);
    }
    if (port.isRouted === false)
      return this.#drop(device, `${port.name} has no address and borrows none`, port.key);
    this.#hop(device, `enters by ${port.name}`, port.key);
    return this.#input(device, port, packet);
  }

  /** Routes a packet that entered by an interface, or by the BVI of a bridge. */
  #input(device: Device, port: Interface, packet: CarriedPacket): PacketTrace['verdict'] {
    const led = ledPacket(device, port.name, packet);
    if (led) this.#hop(device, led.description, led.key);
    if (led?.toVpp) {
      const { interface: exit, address } = led.toVpp;
      return this.#send(device, exit, address, packet, { isOwn: false, input: port });
    }
    if (!this.#passesAcls(device, port.name, 'input', packet)) return 'dropped';
    const at = { interface: port.name, table: port.table };
    const translation = byNat44(device, packet, (nat) => nat.input(at, packet), this.#means);
    const found = this.#translated(device, translation);
    if (!found) return 'dropped';
    const table = translation.table ?? tableOf(port, packet.destination);
    const entered = this.#translated(device, bySourceNat(device, found, port, this.#means));
    return this.route(device, table, entered ?? found, { isOwn: false, input: port });
  }

  #passesAcls(device: Device, name: string, side: AclSide, packet: Packet): boolean {
    const { acls: config } = device;
    if (!config) return true;
    const sessions = this.#memory(device.name).acl;
    const outcome = evaluateAcls({ config, sessions }, { interface: name, side }, packet);
    if (!outcome) return true;
    const { isPermitted, description, key } = outcome;
    const kind = isPermitted ? 'permitted' : 'denied';
    this.#observe({ device: device.name, interface: name, kind, side });
    if (isPermitted) this.#hop(device, description, key);
    else {
      const reason = policyDenial(device, key, packet);
      this.#drop(device, reason === undefined ? description : `${reason}; ${description}`, key);
    }
    return isPermitted;
  }

  /** @returns undefined if the translation drops the packet */
  #translated(device: Device, { packet, hop }: Translation): CarriedPacket | undefined {
    if (hop?.isDropped) this.#drop(device, hop.text, hop.key);
    else if (hop) this.#hop(device, hop.text, hop.key);
    return hop?.isDropped ? undefined : packet;
  }

  #see(device: Device, name: string, kind: 'received' | 'sent'): void {
    const side = kind === 'received' ? 'input' : 'output';
    this.#observe({ device: device.name, interface: name, kind, side });
  }

  #hop(device: Device, description: string, key: string): void {
    this.hops.push({ device: device.name, description, key });
  }

  #drop(device: Device, why: string, key: string): 'dropped' {
    this.#hop(device, `dropped: ${why}`, key);
    return 'dropped';
  }
}
