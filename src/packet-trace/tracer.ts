/**
 * Traces a packet through a snapshot, hop by hop, as VPP and Linux forward it, and records for each
 * hop the value that decided. One direction only: trace the reply as a packet of its own.
 *
 * Assumptions: state that is learned rather than configured is present (neighbors on a wire, MACs),
 * and no packet is lost at random.
 */
import { sameAddress } from './addresses.ts';
import { findAddress, lookUp } from './fib.ts';
import type { Bridge, Device, Interface, Snapshot, Wire } from './snapshot.ts';

export interface Packet {
  readonly source: string;
  readonly destination: string;
}

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
  readonly verdict: 'delivered' | 'dropped' | 'left';
}

/** A longer trace is considered a loop; the longest path in a cluster has 20 hops. */
const MAX_HOPS = 64;

/** A packet; the outer packet of a tunnel contains a frame with another packet. */
interface CarriedPacket extends Packet {
  readonly inner:
    | { readonly vni: number; readonly mac: string; readonly packet: CarriedPacket }
    | undefined;
}

/** @param start name of the device that sends the packet */
export function tracePacket(snapshot: Snapshot, start: string, packet: Packet): PacketTrace {
  const tracer = new Tracer(snapshot);
  const device = snapshot.devices.get(start);
  if (!device) throw new Error(`unknown device ${start}`);
  const verdict = tracer.route(device, 0, { ...packet, inner: undefined }, true);
  return { hops: tracer.hops, verdict };
}

class Tracer {
  readonly hops: Hop[] = [];
  readonly #snapshot: Snapshot;
  /** Frames by the bridge member that they entered: a repeated one is in a loop. */
  readonly #forwardedFrames = new Set<string>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /** Routes a packet that the device sends itself, or that entered by an interface of the table. */
  route(
    device: Device,
    table: number,
    packet: CarriedPacket,
    isOwn: boolean,
  ): PacketTrace['verdict'] {
    if (this.hops.length >= MAX_HOPS)
      return this.#drop(device, 'the packet is in a forwarding loop', '');
    const holder = findAddress(device, table, packet.destination);
    if (holder) return this.#receive(device, table, holder.interface, packet);
    if (!isOwn && !device.forwards)
      return this.#drop(
        device,
        `${packet.destination} is not a local address, and the device does not forward`,
        '',
      );
    const found = lookUp(device, table, packet.destination);
    if (!found && device.hasOtherRoutes) {
      this.#hop(device, `leaves by an unknown route to ${packet.destination}`, '');
      return 'left';
    }
    if (!found)
      return this.#drop(device, `no route to ${packet.destination} in table ${table}`, '');
    const { route, action, paths } = found;
    const name = `route ${route.destination} of table ${table}`;
    const choice = paths > 1 ? ` (the first of ${paths} paths)` : '';
    if (!action) return this.#drop(device, `${name} has an unreachable next hop`, route.key);
    if (action.kind === 'drop') return this.#drop(device, `${name} drops`, route.key);
    if (action.kind === 'table') {
      this.#hop(device, `${name} leads to table ${action.table}${choice}`, route.key);
      return this.route(device, action.table, packet, isOwn);
    }
    const nextHop = action.nextHop ?? packet.destination;
    this.#hop(device, `${name} leads to ${nextHop} on ${action.interface}${choice}`, route.key);
    return this.#send(device, action.interface, nextHop, packet);
  }

  #receive(
    device: Device,
    table: number,
    holder: Interface | undefined,
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    if (!packet.inner) {
      const where = holder ? ` on ${holder.name}` : '';
      this.#hop(device, `delivered: ${packet.destination} is local${where}`, holder?.key ?? '');
      return 'delivered';
    }
    const { vni, mac, packet: inner } = packet.inner;
    const tunnel = [...device.interfaces.values()].find(
      ({ tunnel: ends }) =>
        ends &&
        ends.vni === vni &&
        ends.table === table &&
        sameAddress(ends.source, packet.destination) &&
        sameAddress(ends.destination, packet.source),
    );
    const name = `VXLAN from ${packet.source} with VNI ${vni}`;
    if (!tunnel) return this.#drop(device, `${name} matches no tunnel`, '');
    this.#hop(device, `${name} is decapsulated by ${tunnel.name}`, tunnel.key);
    return this.#enter(device, tunnel, mac, inner);
  }

  /** Sends a packet by an interface to the next hop. */
  #send(
    device: Device,
    exit: string,
    nextHop: string,
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    const out = device.interfaces.get(exit);
    if (!out) return this.#drop(device, `interface ${exit} does not exist`, '');
    if (!out.up) return this.#drop(device, `${exit} is down`, out.key);
    const known = device.neighbors.find(
      (one) => one.interface === exit && sameAddress(one.address, nextHop),
    );
    if (known) this.#hop(device, `${nextHop} is at ${known.mac}`, known.key);
    const bridge = device.bridges.find(({ routed }) => routed === exit);
    if (bridge) {
      if (!known) return this.#drop(device, `the MAC of ${nextHop} is unknown`, '');
      return this.#bridge(device, bridge, exit, known.mac, packet);
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
      return this.route(device, routed.table, packet, false);
    }
    const entry = bridge.entries.find((one) => one.mac === mac);
    if (entry) {
      if (entry.interface === undefined)
        return this.#drop(device, `bridge ${bridge.name} drops frames to ${mac}`, entry.key);
      this.#hop(device, `bridge ${bridge.name} has ${mac} behind ${entry.interface}`, entry.key);
      const reason = forwardingBlock(bridge, from, entry.interface);
      if (reason !== undefined) return this.#drop(device, reason, bridge.key);
      return this.#sendFromMember(device, entry.interface, mac, packet);
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
      const verdict = this.#sendFromMember(device, member, mac, packet);
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
    member: string,
    mac: string,
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    const out = device.interfaces.get(member);
    if (!out) return this.#drop(device, `interface ${member} does not exist`, '');
    // VPP encapsulates and decapsulates regardless of the state of the tunnel interface.
    if (!out.tunnel && !out.up) return this.#drop(device, `${member} is down`, out.key);
    if (!out.tunnel) return this.#transmit(device, out, { mac, nextHop: undefined }, packet);
    const { source, destination, vni, table } = out.tunnel;
    this.#hop(
      device,
      `encapsulated in VXLAN from ${source} to ${destination}, VNI ${vni}`,
      out.key,
    );
    return this.route(device, table, { source, destination, inner: { vni, mac, packet } }, true);
  }

  /** Sends a frame on the wire; without a MAC, the receiver is found by the next hop's address. */
  #transmit(
    device: Device,
    out: Interface,
    { mac, nextHop }: { readonly mac: string | undefined; readonly nextHop: string | undefined },
    packet: CarriedPacket,
  ): PacketTrace['verdict'] {
    const wires = this.#wires(device, out);
    const heard = this.#receivers(wires, device, out);
    const holder = heard.find(
      ({ device: other, port }) => nextHop !== undefined && hasAddress(other, port, nextHop),
    );
    const receiver = mac === undefined ? holder : receiverOf(heard, mac, holder);
    const who = mac ?? nextHop;
    if (!receiver && wires.some(({ isOpen }) => isOpen)) {
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
    const bridge = bridgeOf(device, port.name);
    if (bridge) return this.#bridge(device, bridge, port.name, mac, packet);
    if (port.isRouted === false)
      return this.#drop(device, `${port.name} has no address and borrows none`, port.key);
    this.#hop(device, `enters by ${port.name}`, port.key);
    return this.route(device, port.table, packet, false);
  }

  #wires(device: Device, { name, isLoopback }: Interface): readonly Wire[] {
    if (isLoopback) return [];
    return this.#snapshot.wires.filter(({ ports }) =>
      ports.some((port) => port.device === device.name && port.interface === name),
    );
  }

  /** The other interfaces on the wires that are up. */
  #receivers(wires: readonly Wire[], device: Device, { name }: Interface): Receiver[] {
    return wires
      .flatMap(({ ports }) => ports)
      .filter((port) => port.device !== device.name || port.interface !== name)
      .flatMap((port) => {
        const other = this.#snapshot.devices.get(port.device);
        const found = other?.interfaces.get(port.interface);
        return other && found?.up ? [{ device: other, port: found }] : [];
      });
  }

  #hop(device: Device, description: string, key: string): void {
    this.hops.push({ device: device.name, description, key });
  }

  #drop(device: Device, why: string, key: string): 'dropped' {
    this.#hop(device, `dropped: ${why}`, key);
    return 'dropped';
  }
}

interface Receiver {
  readonly device: Device;
  readonly port: Interface;
}

/**
 * The receiver of a frame: the interface with the MAC, else a bridge member, else an interface whose
 * MAC is unknown.
 * @param holder the receiver that has the address of the next hop
 */
function receiverOf(
  heard: readonly Receiver[],
  mac: string,
  holder: Receiver | undefined,
): Receiver | undefined {
  const exact = heard.find(({ port }) => port.mac === mac);
  const bridged = heard.find(({ device, port }) => bridgeOf(device, port.name) !== undefined);
  const likely = holder?.port.mac === '' ? holder : heard.find(({ port }) => port.mac === '');
  return exact ?? bridged ?? likely;
}

function bridgeOf({ bridges }: Device, member: string): Bridge | undefined {
  return bridges.find(({ members }) => members.some((one) => one.interface === member));
}

/** Linux answers ARP for all its addresses on any interface; VPP for all addresses of the table. */
function hasAddress(device: Device, port: Interface, address: string): boolean {
  return findAddress(device, port.table, address) !== undefined;
}

/** Why a bridge does not forward a frame from one member to another; undefined: it does. */
function forwardingBlock(
  { members, routed }: Bridge,
  from: string,
  to: string,
): string | undefined {
  if (from === to) return `the frame entered by ${to}`;
  const groupOf = (name: string) => members.find((one) => one.interface === name)?.group ?? 0;
  // The BVI is in no group.
  const isSame = from !== routed && groupOf(from) !== 0 && groupOf(from) === groupOf(to);
  return isSame ? `${from} and ${to} are in one split-horizon group` : undefined;
}
