/** Fakes of the ports of the handlers: host, VPP and the STN daemon. */

import type {
  Connection,
  HostLink,
  HostPort,
  MarkedLink,
  MarkedLinks,
} from '#plugins/controller/api/ports/host.ts';
import type {
  NatSession,
  NatSessionPort,
  NatUser,
} from '#plugins/controller/api/ports/nat-sessions.ts';
import type { StnPort, StolenInterface } from '#plugins/controller/api/ports/stn.ts';
import type {
  DhcpLease,
  InterfaceNeighbors,
  PermittedConnections,
  SegmentationTraits,
  VppInterfaceInfo,
  VppPort,
} from '#plugins/controller/api/ports/vpp.ts';
import { createStatsCollector, type StatsCollector } from '#plugins/statscollector/plugin.ts';

export class FakeHost implements HostPort {
  boot = 'boot-1';
  hostLinks: HostLink[] = [{ name: 'eth0', mtu: 1500, addresses: ['172.16.0.5/24'] }];
  ipv6 = false;
  socketServices = false;
  /** Namespaces in which IPv6 was enabled. */
  readonly withIpv6: string[] = [];
  /** Path to inode; any other path does not exist. */
  readonly namespaces = new Map<string, number>();
  /** Inodes of the namespaces of the host. */
  readonly ownInodes = [0];
  /** Connections of TCP, by namespace. */
  readonly open = new Map<string, readonly Connection[]>();
  failing: Error | undefined;
  /** Marked links of all namespaces. */
  marked: MarkedLink[] = [];
  unlinked: string[] = [];
  unreadable: string[] = [];
  /** Number of searches of all namespaces. */
  searches = 0;

  async markedLinks(): Promise<MarkedLinks> {
    this.searches++;
    return { links: this.marked, unlinked: this.unlinked, unreadable: this.unreadable };
  }

  async links(): Promise<readonly HostLink[]> {
    if (this.failing) throw this.failing;
    return this.hostLinks;
  }

  async hasIpv6(): Promise<boolean> {
    return this.ipv6;
  }

  async hasSocketServices(): Promise<boolean> {
    return this.socketServices;
  }

  async enableIpv6(path: string): Promise<void> {
    if (path.endsWith('bad')) throw new Error('no such sysctl');
    this.withIpv6.push(path);
  }

  async connections(path: string): Promise<readonly Connection[]> {
    return this.open.get(path) ?? [];
  }

  async bootId(): Promise<string> {
    return this.boot;
  }

  async namespaceIdentity(path: string) {
    const inode = this.namespaces.get(path);
    return inode === undefined ? undefined : { device: 4, inode };
  }

  async ownNamespaces() {
    return this.ownInodes.map((inode) => ({ device: 4, inode }));
  }
}

export class FakeVpp implements VppPort {
  /** Connections that ACLs keep open. */
  permitted: PermittedConnections[] = [];
  nics: VppInterfaceInfo[] = [];
  dhcp: DhcpLease[] = [];
  traces = 0;
  segmentationTraits: SegmentationTraits = { variant: 'default', isReported: true };
  failing: Error | undefined;
  /** By index of the interface. */
  readonly neighbors = new Map<number, InterfaceNeighbors>();

  async neighborsOf(swIfIndex: number): Promise<InterfaceNeighbors> {
    return this.neighbors.get(swIfIndex) ?? { mac: '', neighbors: [] };
  }

  async permittedConnections(prefix: string): Promise<readonly PermittedConnections[]> {
    return this.permitted.filter(({ acl }) => acl.startsWith(prefix));
  }

  async interfaces(): Promise<readonly VppInterfaceInfo[]> {
    if (this.failing) throw this.failing;
    return this.nics;
  }

  policers = true;

  async hasPolicers(): Promise<boolean> {
    return this.policers;
  }

  /** Of WireGuard. */
  lack: string | undefined;

  async lackForWireguard(): Promise<string | undefined> {
    return this.lack;
  }

  flowProbe = true;

  async hasFlowProbe(): Promise<boolean> {
    return this.flowProbe;
  }

  cnat = true;

  async hasCnat(): Promise<boolean> {
    return this.cnat;
  }

  async segmentation(): Promise<SegmentationTraits> {
    if (this.failing) throw this.failing;
    return this.segmentationTraits;
  }

  async tracePackets(): Promise<readonly string[]> {
    if (this.failing) throw this.failing;
    this.traces++;
    return [];
  }

  async leases(): Promise<readonly DhcpLease[]> {
    if (this.failing) throw this.failing;
    return this.dhcp;
  }
}

export class FakeStn implements StnPort {
  /** By the name of the NIC; the empty name is the first one. */
  readonly stolen = new Map<string, StolenInterface>();
  readonly asked: string[] = [];

  async stolenInterface(name: string): Promise<StolenInterface> {
    this.asked.push(name);
    const found = this.stolen.get(name);
    if (!found) throw new Error(`${name} is not stolen`);
    return found;
  }
}

/** For a component that registers gauges: a collector without interfaces. */
export function statsCollector(): StatsCollector {
  return createStatsCollector({
    nodeName: 'node1',
    net: {
      podByInterface: () => undefined,
      nodeByTunnel: () => undefined,
      mainInterface: () => '',
      otherInterfaces: () => [],
      hostInterconnect: () => '',
    },
  });
}

export class FakeNatSessions implements NatSessionPort {
  sessions: readonly NatSession[] = [];
  /** Requests, in order. */
  readonly asked: string[] = [];
  failing: Error | undefined;
  /** Deletions of sessions with this inside port fail. */
  stuckPort: number | undefined;

  async users(): Promise<readonly NatUser[]> {
    this.asked.push('users');
    if (this.failing) throw this.failing;
    const users = this.sessions.map(({ inside, table }) => ({ address: inside.address, table }));
    return [...new Map(users.map((user) => [JSON.stringify(user), user])).values()];
  }

  async sessionsOf({ address, table }: NatUser): Promise<readonly NatSession[]> {
    this.asked.push(`sessions of ${address} in ${table}`);
    return this.sessions.filter((each) => each.inside.address === address && each.table === table);
  }

  async delete(session: NatSession): Promise<boolean> {
    if (session.inside.port === this.stuckPort) throw new Error('VPP answered -1');
    const left = this.sessions.filter((each) => each !== session);
    const wasThere = left.length < this.sessions.length;
    this.sessions = left;
    return wasThere;
  }
}
