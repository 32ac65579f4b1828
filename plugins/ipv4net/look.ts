/** Gathers all that the wiring derives from: configuration, addresses, host, VPP. */

import type { IpFamily } from '#models/ip.ts';
import type {
  ContivConfApi,
  InterfaceConfig,
  MainInterfaceConfig,
} from '#plugins/contivconf/api.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import type { HostLink, HostView } from '#plugins/controller/api/ports/host.ts';
import type { DhcpLease, VppInterfaceInfo, VppView } from '#plugins/controller/api/ports/vpp.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { AskContext, NodeSyncApi } from '#plugins/nodesync/api.ts';
import { innerMtu, underlayMtu } from './mtu.ts';
import { boundLink } from './names.ts';
import { familyOf, isOwnLink, ownHostAddresses, type Site } from './site.ts';

export interface LookDeps {
  readonly conf: ContivConfApi;
  readonly nodes: NodeSyncApi;
  readonly ipam: IpamApi;
  readonly host: HostView;
  readonly vpp: VppView;
}

/** What was seen last is kept for the case that host or VPP do not answer. */
export class Lookout {
  readonly #deps: LookDeps;
  #links: readonly HostLink[] | undefined;
  #interfaces: readonly VppInterfaceInfo[] | undefined;
  #leases: readonly DhcpLease[] | undefined;

  constructor(deps: LookDeps) {
    this.#deps = deps;
  }

  /** @throws AbortEventError: half a configuration would take the other half away */
  async look(ctx: ResyncContext): Promise<Site> {
    const { conf, nodes, ipam, host } = this.#deps;
    const family = conf.useIpv6() ? 6 : 4;
    const nodeId = nodes.thisNode().id;
    const links = await this.#lookAtLinks(ctx);
    const own = links.filter(isOwnLink);
    const { main, router } = await this.#main(ctx, nodeId);
    return {
      family,
      nodeId,
      interfaces: await this.#interfaceConfig(ctx, main, links),
      routing: conf.routing(),
      neighborScan: conf.neighborScan(),
      main,
      others: conf.otherInterfaces(),
      defaultGateway: router ?? conf.defaultGateway(),
      stn: conf.stn(),
      externalIpam: conf.ipam().useExternalIpam,
      hostAddresses: ownHostAddresses(own, family),
      addresses: ipam,
      ipv6InPods: await ctx.ask('host/has IPv6', () => host.hasIpv6()),
    };
  }

  /** The host's own addresses now. @throws AbortEventError */
  async hostAddresses(ctx: AskContext, family: IpFamily): Promise<readonly string[]> {
    return ownHostAddresses((await this.#lookAtLinks(ctx)).filter(isOwnLink), family);
  }

  /** The main interface with the addresses that it shall have, or that DHCP has given it. */
  async #main(
    ctx: ResyncContext,
    nodeId: number,
  ): Promise<{ readonly main: MainInterfaceConfig; readonly router: string | undefined }> {
    const { conf, ipam } = this.#deps;
    const main = conf.mainInterface();
    if (main.useDhcp) {
      const leases = await this.#lookAtLeases(ctx);
      const lease = leases.find(({ interfaceName }) => interfaceName === main.name);
      return { main: { ...main, addresses: lease ? [lease.address] : [] }, router: lease?.router };
    }
    if (main.addresses.length > 0) return { main, router: undefined };
    const computed = ipam.nodeAddress(nodeId);
    return { main: { ...main, addresses: computed ? [computed] : [] }, router: undefined };
  }

  async #interfaceConfig(
    ctx: ResyncContext,
    main: MainInterfaceConfig,
    links: readonly HostLink[],
  ): Promise<InterfaceConfig> {
    const { conf } = this.#deps;
    const config = conf.interfaces();
    if (config.mtu !== 0 || main.name === undefined) return config;
    const vppInterfaces = await this.#lookAtInterfaces(ctx, main.name);
    const bound = boundLink(main.name);
    const underlay = underlayMtu({
      nic: main.name,
      vppInterfaces,
      hostLinks: links.filter((link) => link.name === bound || isOwnLink(link)),
      managementAddresses: this.#deps.nodes.thisNode().managementAddresses,
    });
    if (underlay === undefined) return config;
    const outer =
      conf.routing().transport === 'vxlan' ? (familyOf(main.addresses[0] ?? '') ?? 4) : undefined;
    return { ...config, mtu: innerMtu(underlay, outer) };
  }

  async #lookAtLinks(ctx: AskContext): Promise<readonly HostLink[]> {
    this.#links = await seen(ctx, "the host's links", this.#links, () =>
      ctx.ask('host/links', () => this.#deps.host.links()),
    );
    return this.#links;
  }

  /** Nothing but the main interface: a node has hundreds. */
  async #lookAtInterfaces(ctx: ResyncContext, nic: string): Promise<readonly VppInterfaceInfo[]> {
    this.#interfaces = await seen(ctx, 'the interfaces of VPP', this.#interfaces, () =>
      ctx.ask(`vpp/interface ${nic}`, async () =>
        (await this.#deps.vpp.interfaces()).filter(({ internalName }) => internalName === nic),
      ),
    );
    return this.#interfaces;
  }

  async #lookAtLeases(ctx: ResyncContext): Promise<readonly DhcpLease[]> {
    this.#leases = await seen(ctx, 'the DHCP leases of VPP', this.#leases, () =>
      ctx.ask('vpp/DHCP leases', () => this.#deps.vpp.leases()),
    );
    return this.#leases;
  }
}

async function seen<T>(
  ctx: AskContext,
  what: string,
  before: T | undefined,
  look: () => Promise<T>,
): Promise<T> {
  try {
    return await look();
  } catch (cause) {
    if (before === undefined) throw new AbortEventError(`cannot list ${what}`, { cause });
    ctx.log.warn({ err: cause }, `cannot list ${what}; those known are kept`);
    return before;
  }
}
