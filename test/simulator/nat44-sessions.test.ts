/** NAT44 sessions of the simulated VPP: traced packets make them, messages show and remove them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { NatMapping } from '#packet-trace/nat-config.ts';
import { type Packet, replyTo, type TcpFlag } from '#packet-trace/packet.ts';
import { type PacketTrace, tracePacket } from '#packet-trace/tracer.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import {
  backend,
  CLUSTER_IP,
  DB,
  mapping,
  natCluster,
  natConfig,
  OUTSIDE,
  WEB,
} from '#test/packet-trace/nat-builder.ts';
import { bytesOfAddress, textOfBytes } from '#vpp/binapi/addresses.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import type { Nat44LbAddrPort } from '#vpp/binapi/messages.gen.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';

const TCP = 6;
/** Seconds. */
const timeouts = { udp: 300, tcp_established: 7440, tcp_transitory: 240, icmp: 60 };
const { NAT_IS_OUT2IN_ONLY, NAT_IS_STATIC, NAT_IS_EXT_HOST_VALID } = NatConfigFlags;

/** A service with three backends, in VPP and in the snapshot that is traced. */
class Testbed {
  readonly clock = new ManualClock();
  readonly client: BinapiClient;
  readonly #vpp: SimVpp;
  readonly #services: readonly NatMapping[];

  static async start(...changes: readonly Partial<NatMapping>[]): Promise<Testbed> {
    const made = new Testbed(changes.map((change) => service(change)));
    made.client.start();
    await made.client.whenConnected();
    await made.#configure();
    return made;
  }

  private constructor(services: readonly NatMapping[]) {
    const { clock } = this;
    this.#services = services;
    this.#vpp = new SimVpp({ clock, random: seededRandom(1), log: silentLogger });
    this.client = new BinapiClient({
      connect: this.#vpp.connect(),
      clock,
      random: seededRandom(2),
      log: silentLogger,
    });
  }

  async #configure(): Promise<void> {
    await this.client.request('ip_table_add_del', {
      is_add: true,
      table: { table_id: 1, is_ip6: false, name: 'pods' },
    });
    await this.client.request('nat44_ed_plugin_enable_disable', {
      enable: true,
      inside_vrf: 0,
      outside_vrf: 0,
      sessions: 10,
      session_memory: 0,
      flags: 0,
    });
    await this.client.request('nat44_forwarding_enable_disable', { enable: true });
    for (const one of this.#services) await this.setMapping(one, true);
  }

  async setMapping(one: NatMapping, is_add: boolean): Promise<void> {
    await this.client.request('nat44_add_del_lb_static_mapping', {
      is_add,
      flags: NAT_IS_OUT2IN_ONLY,
      external_addr: bytesOfAddress(one.address),
      external_port: one.port,
      protocol: TCP,
      affinity: one.affinity,
      tag: one.label,
      locals: one.backends.map(({ address }) => local(address)),
    });
  }

  async removeBackend(one: NatMapping, address: string): Promise<void> {
    await this.client.request('nat44_lb_static_mapping_add_del_local', {
      is_add: false,
      external_addr: bytesOfAddress(one.address),
      external_port: one.port,
      protocol: TCP,
      local: local(address),
    });
  }

  /** @param choice place of the backend in the mapping */
  trace(from: string, packet: Packet, choice = 0): PacketTrace {
    return tracePacket(natCluster(natConfig({ mappings: this.#services })), from, packet, {
      memory: () => this.#vpp.memory,
      choose: () => choice,
    });
  }

  /** Opens a TCP connection from a port of the pod `web`. */
  open(sourcePort: number, choice: number, to = CLUSTER_IP): PacketTrace {
    const there = this.trace('web', packet(sourcePort, to), choice);
    this.trace(there.device, replyTo(there.packet));
    this.trace('web', packet(sourcePort, to, ['ACK']));
    return there;
  }

  /** Whether another packet of the connection arrives. */
  isOpen(sourcePort: number, to = CLUSTER_IP): boolean {
    return this.trace('web', packet(sourcePort, to, ['ACK'])).verdict === 'delivered';
  }

  async sessions(address: string) {
    const ip_address = bytesOfAddress(address);
    const found = await this.client.dump('nat44_user_session_v3_dump', { ip_address, vrf_id: 1 });
    // replies of other services may be remembered, too
    return found.filter(({ flags }) => flags & NAT_IS_STATIC);
  }

  async users(): Promise<string[]> {
    const found = await this.client.dump('nat44_user_dump', {});
    return found
      .filter(({ nstaticsessions }) => nstaticsessions > 0)
      .map((one) => `${textOfBytes(one.ip_address)} vrf ${one.vrf_id}: ${one.nstaticsessions}`)
      .sort();
  }

  /** @param seconds of virtual time */
  async pass(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }
}

const BACKENDS = [WEB, DB, '10.1.1.4'];

function service(change: Partial<NatMapping>): NatMapping {
  return mapping({
    backends: BACKENDS.map((one) => backend(one)),
    twiceNat: 'DISABLED',
    ...change,
  });
}

function local(address: string): Nat44LbAddrPort {
  return { addr: bytesOfAddress(address), port: 8080, probability: 1, vrf_id: 1 };
}

function packet(sourcePort: number, destination: string, tcpFlags?: readonly TcpFlag[]): Packet {
  return { source: WEB, destination, protocol: 'TCP', sourcePort, destinationPort: 80, tcpFlags };
}

const OTHER = '10.96.0.2';

describe('sessions of the simulated VPP', () => {
  it('are listed by backend, with client and age', async () => {
    const bed = await Testbed.start({});
    bed.open(40_000, 1);
    bed.open(40_001, 1);
    await bed.pass(30);
    assert.deepEqual(await bed.users(), [`${DB} vrf 1: 2`]);
    const [first, second, ...more] = await bed.sessions(DB);
    assert.equal(more.length, 0);
    assert.ok(first && second);
    assert.deepEqual(
      {
        ...first,
        outside_ip_address: textOfBytes(first.outside_ip_address),
        inside_ip_address: textOfBytes(first.inside_ip_address),
        ext_host_address: textOfBytes(first.ext_host_address),
        ext_host_nat_address: textOfBytes(first.ext_host_nat_address),
      },
      {
        outside_ip_address: CLUSTER_IP,
        outside_port: 80,
        inside_ip_address: DB,
        inside_port: 8080,
        protocol: TCP,
        flags: NAT_IS_STATIC | NAT_IS_EXT_HOST_VALID,
        last_heard: 0n,
        time_since_last_heard: 30n,
        total_bytes: 300n,
        total_pkts: 3,
        ext_host_address: WEB,
        ext_host_port: 40_000,
        ext_host_nat_address: '0.0.0.0',
        ext_host_nat_port: 0,
        is_timed_out: false,
      },
    );
  });

  it('of a removed backend are deleted, also those of other services, and no others', async () => {
    const bed = await Testbed.start({}, { address: OTHER, label: 'default/other' });
    bed.open(40_000, 1);
    bed.open(40_001, 2);
    bed.open(40_002, 1, OTHER);
    await bed.removeBackend(service({}), DB);
    assert.deepEqual(
      [bed.isOpen(40_000), bed.isOpen(40_001), bed.isOpen(40_002, OTHER)],
      [false, false, false],
    );
    assert.deepEqual(await bed.sessions(DB), []);
    // the pod 10.1.1.4 does not exist, but its session does
    assert.deepEqual(await bed.users(), ['10.1.1.4 vrf 1: 1']);
  });

  it('are deleted with their mapping', async () => {
    const bed = await Testbed.start({});
    bed.open(40_000, 1);
    await bed.setMapping(service({}), false);
    assert.equal(bed.isOpen(40_000), false);
  });

  it('time out as TCP connections do', async () => {
    const bed = await Testbed.start({});
    bed.open(40_000, 1);
    bed.trace('web', packet(40_001, CLUSTER_IP), 1);
    await bed.pass(timeouts.tcp_transitory + 1);
    const isTimedOut = async () => (await bed.sessions(DB)).map((one) => one.is_timed_out);
    assert.deepEqual(await isTimedOut(), [false, true]);
    assert.equal(bed.isOpen(40_001), false);
    assert.equal(bed.isOpen(40_000), true);
    await bed.client.request('nat_set_timeouts', { ...timeouts, tcp_established: 10 });
    await bed.pass(11);
    assert.equal(bed.isOpen(40_000), false);
  });

  it('of closed TCP connections time out earlier', async () => {
    const bed = await Testbed.start({});
    bed.open(40_000, 1);
    bed.trace('web', packet(40_000, CLUSTER_IP, ['FIN', 'ACK']));
    await bed.pass(timeouts.tcp_transitory);
    assert.equal(bed.isOpen(40_000), false);
  });

  it('are deleted by the flow of their replies', async () => {
    const bed = await Testbed.start({});
    bed.open(40_000, 1);
    const request = {
      address: bytesOfAddress(DB),
      protocol: TCP,
      port: 8080,
      vrf_id: 1,
      flags: NatConfigFlags.NAT_IS_INSIDE,
      ext_host_address: bytesOfAddress(WEB),
      ext_host_port: 40_000,
    };
    await bed.client.request('nat44_del_session', request);
    assert.equal(bed.isOpen(40_000), false);
    await assert.rejects(bed.client.request('nat44_del_session', request), VppRefusedError);
  });

  it('are refused when the table is full, until one has timed out', async () => {
    const bed = await Testbed.start({});
    for (let port = 40_000; port < 40_010; port++)
      assert.equal(bed.trace('web', packet(port, CLUSTER_IP), 1).verdict, 'delivered');
    const refused = bed.trace('web', packet(41_000, CLUSTER_IP), 1);
    assert.match(refused.hops.at(-1)?.description ?? '', /the NAT session table is full/);
    await bed.pass(timeouts.tcp_transitory);
    const outside = { ...packet(41_000, OUTSIDE), destinationPort: 443 };
    assert.equal(bed.trace('web', outside).verdict, 'delivered');
    assert.equal(bed.trace('web', packet(40_000, CLUSTER_IP), 1).verdict, 'delivered');
  });

  it('keep a client with affinity at its backend until it was idle for long enough', async () => {
    const bed = await Testbed.start({ affinity: 60 });
    assert.equal(bed.open(40_000, 1).device, 'db');
    assert.equal(bed.open(40_001, 0).device, 'db');
    await bed.pass(timeouts.tcp_established + 1);
    // finds both timed out, which ends the use of the affinity
    for (const port of [40_000, 40_001]) assert.equal(bed.isOpen(port), false);
    await bed.pass(59);
    assert.equal(bed.open(40_002, 0).device, 'db');
    await bed.pass(timeouts.tcp_established + 1);
    assert.equal(bed.isOpen(40_002), false);
    await bed.pass(61);
    assert.equal(bed.open(40_003, 0).device, 'web');
  });
});
