/** Reads the input of the wiring: configuration, addresses, host, VPP. */

import { defineError, errorText } from '#infra/errors/errors.ts';
import { familyOf, type IpFamily } from '#models/ip.ts';
import type {
  ContivConfApi,
  InterfaceConfig,
  MainInterfaceConfig,
} from '#plugins/contivconf/api.ts';
import { AbortEventError, causedError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import type { HostLink, HostPort } from '#plugins/controller/api/ports/host.ts';
import type {
  DhcpLease,
  SegmentationTraits,
  VppInterfaceInfo,
  VppPort,
} from '#plugins/controller/api/ports/vpp.ts';
import type { WireguardSessionPort } from '#plugins/controller/api/ports/wireguard.ts';
import type { OwnKeysPort } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { FamilyPlan, IpamApi } from '#plugins/ipam/api.ts';
import type { NodeSyncApi, PortContext } from '#plugins/nodesync/api.ts';
import { ipv6NatProblem, wantsSourceNat } from './ipv6-nat.ts';
import { podMtu, type Tunnel } from './mtu.ts';
import { boundLink } from './names.ts';
import {
  type FamilyNetwork,
  hostAddressesOf,
  isHostLink,
  type NodeInput,
  type WireguardInput,
} from './node-input.ts';
import { gsoProblem, mtuForSegmentation, usesGso } from './segmentation.ts';
import { slotKeys } from './slot-keys.ts';

export const NoEncryptionError = defineError({
  name: 'NoEncryptionError',
  code: 'CV_NET_NO_ENCRYPTION',
  remedy:
    'Install the package vpp-crypto-engines of VPP, or load its plugin wireguard_plugin.so, and restart VPP. Until then this node reaches no other that encrypts.',
});

export interface NodeInputReaderDeps {
  readonly conf: ContivConfApi;
  readonly nodes: NodeSyncApi;
  readonly ipam: IpamApi;
  readonly host: HostPort;
  readonly vpp: VppPort;
  readonly ownKeys: OwnKeysPort;
  readonly sessions: Pick<WireguardSessionPort, 'read'>;
}

/** Keeps the last results in case the host or VPP cannot be read. */
export class NodeInputReader {
  readonly #deps: NodeInputReaderDeps;
  #links: readonly HostLink[] | undefined;
  #interfaces: readonly VppInterfaceInfo[] | undefined;
  #leases: readonly DhcpLease[] | undefined;
  #established: readonly string[] | undefined;
  #segmentation: SegmentationTraits | undefined;
  /** Problems of the configured GSO, source NAT and MTU that are in the log. */
  #gsoProblem: string | undefined;
  #natProblem: string | undefined;
  #mtuProblem: string | undefined;
  #encryptionProblem: string | undefined;
  #lack: { readonly ofVpp: string | undefined } | undefined;

  constructor(deps: NodeInputReaderDeps) {
    this.#deps = deps;
  }

  get mtuProblem(): string | undefined {
    return this.#mtuProblem;
  }

  /** Why this node cannot encrypt; undefined: it can, or need not. */
  get encryptionProblem(): string | undefined {
    return this.#encryptionProblem;
  }

  get natProblem(): string | undefined {
    return this.#natProblem;
  }

  /** @throws AbortEventError: an incomplete configuration would remove the missing values */
  async read(ctx: ResyncContext): Promise<NodeInput> {
    const { conf, nodes, ipam, host } = this.#deps;
    const nodeId = nodes.thisNode().id;
    const links = await this.#readLinks(ctx);
    const own = links.filter(isHostLink);
    const { main, configuredAddresses, routers } = await this.#readMainInterface(ctx, nodeId);
    return {
      nodeId,
      interfaces: await this.#readInterfaceConfig(ctx, main, links),
      routing: conf.routing(),
      neighborScan: conf.neighborScan(),
      main,
      configuredAddresses,
      others: conf.otherInterfaces(),
      defaultGateways: [...routers, ...conf.defaultGateways()],
      natFamilies: await this.#readNatFamilies(ctx),
      stn: conf.stn(),
      externalIpam: conf.ipam().useExternalIpam,
      // not of the configured families, while running pods keep the subnets of others in use
      ...addressesOfHost(own, ipam.families()),
      ipv6InPods: await ctx.callPort('host/has IPv6', () => host.hasIpv6()),
      wireguard: await this.#readWireguard(ctx),
    };
  }

  /** Keys of other nodes by which VPP has sessions. @throws AbortEventError */
  async readEstablished(ctx: ResyncContext): Promise<readonly string[]> {
    const { conf, sessions } = this.#deps;
    if (conf.routing().transport !== 'wireguard') return [];
    this.#established = await readOrLast(ctx, 'the sessions of VPP', this.#established, () =>
      ctx.callPort('wireguard/established', async () =>
        (await sessions.read())
          .filter(({ isEstablished }) => isEstablished)
          .map(({ publicKey }) => publicKey)
          .sort(),
      ),
    );
    return this.#established;
  }

  async #readWireguard(ctx: ResyncContext): Promise<WireguardInput | undefined> {
    const { conf, ownKeys, vpp } = this.#deps;
    this.#encryptionProblem = undefined;
    if (conf.routing().transport !== 'wireguard') return undefined;
    const { port, clearText } = conf.wireguard();
    this.#lack = await readOrLast(ctx, 'the crypto engines of VPP', this.#lack, async () => ({
      ofVpp: await ctx.callPort('vpp/lack for WireGuard', () => vpp.lackForWireguard()),
    }));
    try {
      const { ofVpp } = this.#lack;
      if (ofVpp !== undefined) throw new NoEncryptionError(`VPP has no ${ofVpp}`);
      const own = await ctx.callPort('wireguard/own keys', () => ownKeys.ownKeys());
      return { port, clearText, keys: slotKeys(own) };
    } catch (cause) {
      // nothing is sent to nodes that encrypt
      ctx.log.error({ err: cause }, 'this node cannot encrypt');
      this.#encryptionProblem = errorText(cause);
      return { port, clearText, keys: [] };
    }
  }

  /**
   * The input with the current addresses of the host, and with the MTU of the network in which the Node
   * object has its address now.
   * @throws AbortEventError
   */
  async withCurrentHost(ctx: PortContext, before: NodeInput): Promise<NodeInput> {
    const links = await this.#readLinks(ctx);
    const own = links.filter(isHostLink);
    return {
      ...before,
      interfaces: this.#interfaceConfig(ctx, before.interfaces.enableGso, before.main, links),
      ...addressesOfHost(own, this.#deps.ipam.families()),
    };
  }

  async #readNatFamilies(ctx: ResyncContext): Promise<readonly IpFamily[]> {
    const { conf, ipam, vpp } = this.#deps;
    const isOn = conf.natExternalTraffic();
    const ipv6 = ipam.families().find(({ family }) => family === 6);
    const { transport, mainVrf } = conf.routing();
    if (!isOn || !ipv6 || transport === 'nooverlay' || !wantsSourceNat(conf, ipv6)) {
      this.#natProblem = undefined;
      return isOn ? [4] : [];
    }
    const problem = ipv6NatProblem(
      mainVrf,
      await ctx.callPort('vpp/has cnat', () => vpp.hasCnat()),
    );
    if (problem && problem.message !== this.#natProblem)
      ctx.log.warn({ err: problem }, 'IPv6 leaves the cluster without source NAT');
    this.#natProblem = problem?.message;
    return problem ? [4] : [4, 6];
  }

  /** The main interface with its configured addresses, and that of its DHCP lease: without a lease the node has none. */
  async #readMainInterface(
    ctx: ResyncContext,
    nodeId: number,
  ): Promise<
    Pick<NodeInput, 'main' | 'configuredAddresses'> & { readonly routers: readonly string[] }
  > {
    const { conf, ipam } = this.#deps;
    const main = conf.mainInterface();
    const configured = main.addresses.length > 0 ? main.addresses : ipam.nodeAddresses(nodeId);
    if (!main.useDhcp)
      return {
        main: { ...main, addresses: configured },
        configuredAddresses: configured,
        routers: [],
      };
    const [primary, ...others] = ipam.families();
    const configuredAddresses =
      others.length > 0 ? configured.filter((one) => familyOf(one) === 6) : [];
    const leases = await this.#readLeases(ctx);
    const lease = leases.find(({ interfaceName }) => interfaceName === main.name);
    const leased = lease ? [lease.address] : [];
    // tunnels go by the first one, on all nodes
    const addresses =
      primary.family === 4
        ? [...leased, ...configuredAddresses]
        : [...configuredAddresses, ...leased];
    return {
      main: { ...main, addresses: lease ? addresses : [] },
      configuredAddresses,
      routers: lease && lease.router !== '' ? [lease.router] : [],
    };
  }

  async #readInterfaceConfig(
    ctx: ResyncContext,
    main: MainInterfaceConfig,
    links: readonly HostLink[],
  ): Promise<InterfaceConfig> {
    const enableGso = usesGso(this.#deps.conf.interfaces()) && (await this.#canSegment(ctx));
    if (main.name !== undefined) await this.#readInterfaces(ctx, main.name);
    return this.#interfaceConfig(ctx, enableGso, main, links);
  }

  /** With what was last read from VPP. */
  #interfaceConfig(
    ctx: PortContext,
    enableGso: boolean,
    main: MainInterfaceConfig,
    links: readonly HostLink[],
  ): InterfaceConfig {
    const { conf } = this.#deps;
    const config = conf.interfaces();
    const { name: nic } = main;
    const bound = nic === undefined ? undefined : boundLink(nic);
    const underlay = {
      nic,
      vppInterfaces: this.#interfaces ?? [],
      hostLinks: links.filter((link) => link.name === bound || isHostLink(link)),
      managementAddresses: this.#deps.nodes.thisNode().managementAddresses,
    };
    const { mtu = config.mtu, problem } = podMtu(config.mtu, underlay, this.#tunnel(main));
    if (problem && problem.message !== this.#mtuProblem)
      ctx.log.warn({ err: problem }, 'mtuSize is too large');
    this.#mtuProblem = problem?.message;
    return { ...config, enableGso, mtu: enableGso ? mtuForSegmentation(mtu) : mtu };
  }

  /** Also where some nodes are reached by VXLAN: its headers are shorter. */
  #tunnel({ addresses }: MainInterfaceConfig): Tunnel | undefined {
    const { transport } = this.#deps.conf.routing();
    if (transport === 'nooverlay') return undefined;
    const protocol = transport === 'wireguard' ? 'WireGuard' : 'VXLAN';
    return { protocol, family: familyOf(addresses[0] ?? '') ?? 4 };
  }

  async #canSegment(ctx: ResyncContext): Promise<boolean> {
    this.#segmentation = await readOrLast(ctx, 'the segmentation of VPP', this.#segmentation, () =>
      ctx.callPort('vpp/segmentation', () => this.#deps.vpp.segmentation()),
    );
    const problem = gsoProblem(this.#segmentation);
    if (problem && problem.message !== this.#gsoProblem)
      ctx.log.warn({ err: problem }, 'GSO is off');
    this.#gsoProblem = problem?.message;
    return problem === undefined;
  }

  async #readLinks(ctx: PortContext): Promise<readonly HostLink[]> {
    this.#links = await readOrLast(ctx, "the host's links", this.#links, () =>
      ctx.callPort('host/links', () => this.#deps.host.links()),
    );
    return this.#links;
  }

  /** Only the main interface, because a recording would contain hundreds of interfaces. */
  async #readInterfaces(ctx: ResyncContext, nic: string): Promise<void> {
    this.#interfaces = await readOrLast(ctx, 'the interfaces of VPP', this.#interfaces, () =>
      ctx.callPort(`vpp/interface ${nic}`, async () =>
        (await this.#deps.vpp.interfaces()).filter(({ internalName }) => internalName === nic),
      ),
    );
  }

  async #readLeases(ctx: ResyncContext): Promise<readonly DhcpLease[]> {
    this.#leases = await readOrLast(ctx, 'the DHCP leases of VPP', this.#leases, () =>
      ctx.callPort('vpp/DHCP leases', () => this.#deps.vpp.leases()),
    );
    return this.#leases;
  }
}

/** The parts of the input that the links of the host decide. */
export function addressesOfHost(
  links: readonly HostLink[],
  plans: readonly [FamilyPlan, ...FamilyPlan[]],
): Pick<NodeInput, 'networks' | 'hostLinks'> {
  const of = (plan: FamilyPlan, ...some: readonly HostLink[]): readonly string[] =>
    hostAddressesOf(some, plan.family, plan.serviceSubnet());
  const addressed = links.filter((link) => plans.some((plan) => of(plan, link).length > 0));
  const network = (plan: FamilyPlan): FamilyNetwork => ({
    family: plan.family,
    addresses: plan,
    hostAddresses: of(plan, ...addressed),
  });
  const [primary, ...others] = plans;
  return {
    networks: [network(primary), ...others.map(network)],
    hostLinks: addressed.map(({ name }) => name).sort(),
  };
}

async function readOrLast<T>(
  ctx: PortContext,
  what: string,
  before: T | undefined,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (before === undefined) throw causedError(AbortEventError, `cannot list ${what}`, cause);
    ctx.log.warn({ err: cause }, `cannot list ${what}; keeping the last known ones`);
    return before;
  }
}
