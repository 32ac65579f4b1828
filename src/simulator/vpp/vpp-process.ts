import type { Clock, Random } from '#infra/clock/clock.ts';
import { cnatSessions } from '#packet-trace/cnat.ts';
import type { DeviceMemory } from '#packet-trace/memory.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import type { Peer } from '#vpp/binapi/server.ts';
import type { SimLinux } from '../linux/linux.ts';
import { Acls } from './acl.ts';
import { Addresses } from './addresses.ts';
import { afPacketMessages } from './af-packet.ts';
import { Bridging } from './bridging.ts';
import { cnatMessages } from './cnat.ts';
import { Dhcp, type SimDhcpServer } from './dhcp.ts';
import { FeatureArcs } from './feature-arcs.ts';
import { Fib } from './fib.ts';
import { flowprobeMessages } from './flowprobe.ts';
import { simulatedHost } from './host.ts';
import { InterfaceEvents } from './interface-events.ts';
import { interfaceMessages } from './interface-messages.ts';
import { Interfaces } from './interfaces.ts';
import { loopbackMessages } from './loopback.ts';
import { memifMessages } from './memif.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { Nat44 } from './nat44.ts';
import { Neighbors } from './neighbors.ts';
import type { SimNics } from './nics.ts';
import { policerMessages } from './policers.ts';
import { proxyArpMessages } from './proxy-arp.ts';
import { puntMessages } from './punt.ts';
import { routeMessages } from './routes.ts';
import { segmentationMessages } from './segmentation.ts';
import { sessionMessages } from './session.ts';
import { simulatedStatistics } from './statistics.ts';
import { stnMessages } from './stn.ts';
import { SubInterfaces } from './sub-interfaces.ts';
import { tableMessages } from './tables.ts';
import { tapMessages } from './tap.ts';
import { TrafficCounters } from './traffic-counters.ts';
import { vxlanMessages } from './vxlan.ts';
import { Wireguard } from './wireguard.ts';
import { WireguardLinks } from './wireguard-links.ts';

/** A simulated VPP process: all state from its start to its end. */
export interface SimVppProcess {
  readonly handlerGroups: readonly MessageHandlers[];
  /** For packet traces. */
  readonly memory: DeviceMemory;
  readonly statistics: StatsPort;
  readonly traffic: TrafficCounters;
  forget(peer: Peer): void;
  /** Ends the process: the kernel closes its TAPs. */
  end(): void;
}

export function startProcess(deps: {
  readonly host: SimLinux | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly dhcpServer: SimDhcpServer;
  readonly nics?: SimNics;
  readonly wireguardLinks?: WireguardLinks;
  readonly crash: (why: string) => void;
}): SimVppProcess {
  const { clock, random, crash } = deps;
  const host = simulatedHost(deps.host, random);
  const events = new InterfaceEvents();
  const interfaces = new Interfaces(events);
  deps.nics?.attachTo(interfaces, host);
  const traffic = new TrafficCounters(interfaces);
  const subInterfaces = new SubInterfaces(interfaces);
  const fib = new Fib();
  const addresses = new Addresses(interfaces, fib, crash);
  const neighbors = new Neighbors({ interfaces, addresses, fib, clock });
  const bridging = new Bridging(interfaces, crash);
  const dhcp = new Dhcp({ interfaces, addresses, fib, server: deps.dhcpServer });
  const taps = tapMessages(interfaces, host);
  const acls = new Acls(interfaces);
  const arcs = new FeatureArcs(interfaces);
  const nat = new Nat44({ clock, interfaces, addresses, fib, arcs, crash });
  const wireguard = new Wireguard(interfaces, deps.wireguardLinks ?? new WireguardLinks());
  return {
    handlerGroups: [
      sessionMessages(interfaces, fib, nat),
      events.handlers(),
      interfaceMessages(interfaces, subInterfaces),
      subInterfaces.handlers(),
      memifMessages({ interfaces, host, crash }),
      loopbackMessages(interfaces),
      taps,
      afPacketMessages(interfaces, host),
      arcs.handlers(),
      segmentationMessages(interfaces, arcs),
      policerMessages(interfaces, arcs),
      flowprobeMessages(interfaces, arcs, fib),
      vxlanMessages({ interfaces, fib, host }),
      wireguard.handlers(),
      addresses.handlers(),
      tableMessages(fib),
      routeMessages({ fib, interfaces, crash }),
      neighbors.handlers(),
      bridging.handlers(),
      acls.handlers(),
      stnMessages(interfaces),
      puntMessages({ fib, interfaces, crash }),
      nat.handlers(),
      cnatMessages(crash),
      dhcp.handlers(),
      proxyArpMessages(interfaces, fib),
    ],
    forget: (peer) => {
      events.forget(peer);
      dhcp.forget(peer);
      wireguard.forget(peer);
    },
    end: () => {
      taps.close();
      wireguard.end();
    },
    memory: { nat: nat.sessions, acl: acls.sessions, cnat: cnatSessions() },
    statistics: simulatedStatistics({ interfaces, traffic, nat }),
    traffic,
  };
}
