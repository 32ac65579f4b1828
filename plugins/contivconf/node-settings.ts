/**
 * The effective settings of this node. For each option the first source that sets it wins:
 *
 * 1. the NodeConfig resource
 * 2. the node's section of the file
 * 3. the global part of the file
 * 4. discovered: the configuration of the host on a NIC that VPP took over, the first NIC of VPP
 *
 * Addresses and gateway of a NIC that was taken over take precedence over those of the file: other
 * nodes already reach the host by them.
 */

import type { NodeConfig, NodeConfigInterfaceConfig } from '#kubernetes/models/node-config.ts';
import { familyOf, firstOfFamily, type IpFamily } from '#models/ip.ts';
import type { StolenInterface } from '#plugins/controller/api/ports/stn.ts';
import type { ContivConfig, NodeSection } from './config.ts';
import { gatewayList } from './gateways.ts';
import { interfaceAddressFault } from './host-address.ts';
import { addressList, nodeSection } from './node-section.ts';
import type { MainInterfaceConfig, NodeInterfaceConfig, StnConfig } from './settings.ts';
import {
  inheritanceFaults,
  standInGateways,
  stolenAddresses,
  stolenGateway,
  stolenRoutes,
  unsupportedDriver,
} from './stn-interface.ts';
import { podFamilies } from './subnet-problems.ts';

/** Source of a value. */
export type Origin =
  | { readonly source: 'resource' }
  /** Path of the key in contiv.conf; the value may be set in the file or be its default. */
  | { readonly source: 'file'; readonly path: string }
  | { readonly source: 'stn' }
  | { readonly source: 'vpp' }
  /** No source sets it, or it is determined otherwise. */
  | { readonly source: 'none' };

export interface ConfigSources {
  readonly file: ContivConfig;
  readonly nodeName: string;
  /** undefined: it does not exist, or the file disables it. */
  readonly nodeConfig: NodeConfig | undefined;
  /** NICs of VPP by sw_if_index. */
  readonly nics: readonly string[];
  /** Answer of the STN daemon for the NIC of `stolenNic`; undefined: unknown. */
  readonly stolen: StolenInterface | undefined;
  /** The STN daemon has not taken over the NIC of `stolenNic`: the host keeps its NICs. */
  readonly isStnRefused?: boolean;
}

/** An invalid or unsupported value of a source. */
export interface NodeProblem {
  readonly source: Origin['source'];
  /** Name of the field in its source. */
  readonly field: string;
  /** The fault, as the rest of a sentence about the field. */
  readonly reason: string;
  /** The field, the reason, and what is done. */
  readonly text: string;
}

export interface NodeSettings {
  readonly main: MainInterfaceConfig;
  readonly others: readonly NodeInterfaceConfig[];
  /** At most one of each family, without prefix length. */
  readonly defaultGateways: readonly string[];
  readonly natExternalTraffic: boolean;
  readonly stn: StnConfig | undefined;
  readonly problems: readonly NodeProblem[];
  readonly origins: {
    readonly mainName: Origin;
    readonly mainAddresses: Origin;
    readonly mainUseDhcp: Origin;
    readonly others: Origin;
    /** In the order of the gateways. */
    readonly defaultGateways: readonly Origin[];
    readonly natExternalTraffic: Origin;
    readonly stn: Origin;
  };
}

/** Configuration of an interface in either source. */
interface Entry {
  readonly name: string;
  readonly ip: string;
  readonly useDhcp: boolean;
}

const resource: Origin = { source: 'resource' };
const none: Origin = { source: 'none' };

/** Subject of its problems. */
const TAKEN_NIC = 'the NIC that VPP took over';

function file(path: string): Origin {
  return { source: 'file', path };
}

const fromResource = (entry: NodeConfigInterfaceConfig): Entry => ({
  name: entry.interface_name,
  ip: entry.ip,
  useDhcp: entry.use_dhcp,
});

const fromFile = (entry: NodeSection['mainVPPInterface']): Entry => ({
  name: entry.interfaceName,
  ip: entry.ip,
  useDhcp: entry.useDHCP,
});

/** The first value that is set; empty texts and lists are not set. */
function firstSet<T extends string | readonly unknown[]>(
  candidates: readonly (readonly [T | undefined, Origin])[],
): readonly [T | undefined, Origin] {
  return candidates.find(([value]) => value !== undefined && value.length > 0) ?? [undefined, none];
}

/**
 * The NIC of the host that VPP takes over; undefined: none. An empty name means the first NIC of the
 * host: after the take-over only the STN daemon knows which one that was.
 */
export function stolenNic({
  file: config,
  nodeName,
  nodeConfig,
}: Pick<ConfigSources, 'file' | 'nodeName' | 'nodeConfig'>): readonly [string | undefined, Origin] {
  const found = nodeSection(config, nodeName);
  const named = firstSet([
    [nodeConfig?.steal_interface, resource],
    [found?.section.stealInterface, file(`nodeConfig.${found?.index}.stealInterface`)],
    [config.stealInterface, file('stealInterface')],
  ]);
  if (named[0] !== undefined || !config.stealFirstNIC) return named;
  return ['', file('stealFirstNIC')];
}

/** Links that are never the NIC of a host. */
const virtualLinks = ['lo', 'vir', 'docker'];

/** The NIC of `stealFirstNIC` before the take-over. @param links of the host, in their order */
export function firstHostNic(links: readonly string[]): string | undefined {
  return links.find((link) => !virtualLinks.some((prefix) => link.startsWith(prefix)));
}

function otherInterfacesField({ source }: Origin): string {
  return source === 'resource' ? 'other_vpp_interfaces' : 'otherVPPInterfaces';
}

/** Validates input and collects the problems. */
class InputChecker {
  readonly problems: NodeProblem[] = [];

  /** @param consequence what is done about it */
  add({ source }: Origin, field: string, reason: string, consequence: string): void {
    this.problems.push({ source, field, reason, text: `${field}: ${reason}${consequence}` });
  }

  addresses(origin: Origin, field: string, entry: Entry): string[] {
    return addressList(entry.ip).filter((text) => {
      const fault = interfaceAddressFault(text);
      if (fault !== undefined)
        this.add(origin, `${field}.ip`, `"${text}" ${fault}`, '; ignoring it');
      return fault === undefined;
    });
  }

  gateways(origin: Origin, field: string, text: string): string[] {
    return gatewayList(text, (part, fault) =>
      this.add(origin, field, `"${part}" ${fault}`, '; ignoring it'),
    );
  }

  /** Two entries for one interface would conflict; the main interface has its own entry. */
  isNew(
    origin: Origin,
    name: string,
    at: number,
    listed: readonly NodeInterfaceConfig[],
    mainName: string | undefined,
  ): boolean {
    const isMain = name === mainName;
    if (!isMain && listed.findIndex((one) => one.name === name) === at) return true;
    const reason = isMain ? 'is the main interface' : 'is configured twice';
    const field = otherInterfacesField(origin);
    this.add(origin, field, `"${name}" ${reason}`, '; ignoring the entry');
    return false;
  }
}

export function resolveNode(sources: ConfigSources): NodeSettings {
  const { file: config, nodeConfig, stolen } = sources;
  const checked = new InputChecker();
  const [stealing, stnOrigin] = sources.isStnRefused
    ? ([undefined, none] as const)
    : stolenNic(sources);
  const stn = stealing === undefined ? undefined : stnConfig(sources, stealing);
  if (stolen && stn && unsupportedDriver(stolen))
    checked.add(
      { source: 'stn' },
      TAKEN_NIC,
      `its driver was ${unsupportedDriver(stolen)}, which is not supported yet`,
      ': it is used only if DPDK drives it',
    );
  const { others: listed, othersOrigin } = otherInterfaces(sources, checked);
  const main = mainInterface(sources, checked, stn !== undefined, listed);
  const others = listed.filter(({ name }, at) =>
    checked.isNew(othersOrigin, name, at, listed, main.config.name),
  );
  const gateways = defaultGateways(sources, checked, main.config, stn !== undefined);
  if (main.origins.mainAddresses.source === 'stn') {
    const hasRoute = gateways.length > 0 || (stn !== undefined && stn.routes.length > 0);
    const families = podFamilies(config);
    for (const { reason, consequence } of inheritanceFaults(
      main.config.addresses,
      families,
      hasRoute,
    ))
      checked.add({ source: 'stn' }, TAKEN_NIC, reason, consequence);
  }
  const nat = natExternalTraffic(config, nodeConfig, sources.nodeName);
  return {
    main: main.config,
    others,
    defaultGateways: gateways.map(([gateway]) => gateway),
    natExternalTraffic: nat[0],
    stn,
    problems: checked.problems,
    origins: {
      ...main.origins,
      others: othersOrigin,
      defaultGateways: gateways.map(([, origin]) => origin),
      natExternalTraffic: nat[1],
      stn: stnOrigin,
    },
  };
}

function stnConfig({ file: config, stolen }: ConfigSources, interfaceName: string): StnConfig {
  return {
    interfaceName,
    // a file without the key means version 1
    version: config.stnVersion === 2 ? 2 : 1,
    routes: stolen ? podFamilies(config).flatMap((family) => stolenRoutes(stolen, family)) : [],
  };
}

function otherInterfaces(
  { file: config, nodeName, nodeConfig }: ConfigSources,
  checked: InputChecker,
): { readonly others: readonly NodeInterfaceConfig[]; readonly othersOrigin: Origin } {
  const found = nodeSection(config, nodeName);
  const [entries = [], othersOrigin] = firstSet<readonly Entry[]>([
    [nodeConfig?.other_vpp_interfaces.map(fromResource), resource],
    [
      found?.section.otherVPPInterfaces.map(fromFile),
      file(`nodeConfig.${found?.index}.otherVPPInterfaces`),
    ],
  ]);
  const field = otherInterfacesField(othersOrigin);
  const others = entries.flatMap((entry): NodeInterfaceConfig[] => {
    if (entry.name === '') {
      checked.add(othersOrigin, field, 'there is an entry without a name', '; ignoring it');
      return [];
    }
    const addresses = checked.addresses(othersOrigin, field, entry);
    return [{ name: entry.name, addresses, useDhcp: addresses.length === 0 && entry.useDhcp }];
  });
  return { others, othersOrigin };
}

function mainInterface(
  { file: config, nodeName, nodeConfig, nics, stolen }: ConfigSources,
  checked: InputChecker,
  takesOver: boolean,
  others: readonly NodeInterfaceConfig[],
): {
  readonly config: MainInterfaceConfig;
  readonly origins: Pick<NodeSettings['origins'], 'mainName' | 'mainAddresses' | 'mainUseDhcp'>;
} {
  const found = nodeSection(config, nodeName);
  const at = `nodeConfig.${found?.index}.mainVPPInterface`;
  const entries: { entry: Entry; field: string; origin: (key: string) => Origin }[] = [];
  if (nodeConfig?.main_vpp_interface)
    entries.push({
      entry: fromResource(nodeConfig.main_vpp_interface),
      field: 'main_vpp_interface',
      origin: () => resource,
    });
  if (found)
    entries.push({
      entry: fromFile(found.section.mainVPPInterface),
      field: 'mainVPPInterface',
      origin: (key) => file(`${at}.${key}`),
    });

  const free = nics.find((nic) => !others.some((other) => other.name === nic));
  const [name, mainName] = firstSet<string>([
    ...entries.map(({ entry, origin }) => [entry.name, origin('interfaceName')] as const),
    [free, { source: 'vpp' }],
  ]);
  const configured = firstSet<readonly string[]>(
    entries.map(
      ({ entry, field, origin }) =>
        [checked.addresses(origin('ip'), field, entry), origin('ip')] as const,
    ),
  );
  const dhcpCandidates: readonly (readonly [boolean, Origin])[] = [
    ...entries.map(({ entry, origin }) => [entry.useDhcp, origin('useDHCP')] as const),
    [config.ipamConfig.nodeInterconnectDHCP, file('ipamConfig.nodeInterconnectDHCP')],
  ];
  const dhcp = dhcpCandidates.find(([enabled]) => enabled);
  const families = podFamilies(config);
  const useDhcp = dhcp !== undefined && name !== undefined && canLease(configured[0], families);
  const inherited = takesOver && stolen && !useDhcp ? stolen : undefined;
  const [addresses = [], mainAddresses] = firstSet<readonly string[]>([
    [inherited && inheritedAddresses(inherited, families, configured[0]), { source: 'stn' }],
    configured,
  ]);
  return {
    config: { name, addresses, useDhcp },
    origins: {
      mainName,
      mainAddresses,
      mainUseDhcp: dhcp?.[1] ?? file('ipamConfig.nodeInterconnectDHCP'),
    },
  };
}

/** A lease is of IPv4: beside it, a node of both families may have configured addresses of IPv6. */
function canLease(
  configured: readonly string[] | undefined,
  families: readonly IpFamily[],
): boolean {
  if (configured === undefined) return true;
  return families.length === 2 && firstOfFamily(configured, 4) === undefined;
}

/** Those that the host had on the NIC, and the configured ones of a family of the pods in which it had none. */
function inheritedAddresses(
  stolen: StolenInterface,
  families: readonly IpFamily[],
  configured: readonly string[] = [],
): string[] {
  const inherited = families.map((family) => stolenAddresses(stolen, family));
  if (inherited.every(({ length }) => length === 0)) return [];
  return inherited.flatMap((found, at) =>
    found.length > 0 ? found : configured.filter((one) => familyOf(one) === families[at]),
  );
}

/** Of each family that of the first source that has one; with DHCP, that of IPv4 is in the lease. */
function defaultGateways(
  { file: config, nodeName, nodeConfig, stolen }: ConfigSources,
  checked: InputChecker,
  main: MainInterfaceConfig,
  takesOver: boolean,
): readonly (readonly [string, Origin])[] {
  const found = nodeSection(config, nodeName);
  const inSection = file(`nodeConfig.${found?.index}.gateway`);
  const inFile = file('ipamConfig.defaultGateway');
  const stn: Origin = { source: 'stn' };
  const inherits = takesOver && stolen;
  const sources: readonly (readonly [readonly string[], Origin])[] = [
    [inherits ? podFamilies(config).flatMap((one) => stolenGateway(stolen, one) ?? []) : [], stn],
    [checked.gateways(resource, 'gateway', nodeConfig?.gateway ?? ''), resource],
    [checked.gateways(inSection, 'gateway', found?.section.gateway ?? ''), inSection],
    [
      checked.gateways(inFile, 'ipamConfig.defaultGateway', config.ipamConfig.defaultGateway),
      inFile,
    ],
    [takesOver ? standInGateways(main.addresses) : [], stn],
  ];
  const all = sources.flatMap(([gateways, origin]) =>
    gateways.map((one) => [one, origin] as const),
  );
  return familiesOf(config)
    .filter((family) => family === 6 || !main.useDhcp)
    .flatMap((family) => {
      const first = all.find(([gateway]) => familyOf(gateway) === family);
      return first ? [first] : [];
    });
}

/** Both, the primary one of the pods first: addresses and gateways of nodes may have others than the pods. */
function familiesOf(config: ContivConfig): readonly IpFamily[] {
  return podFamilies(config)[0] === 4 ? [4, 6] : [6, 4];
}

function natExternalTraffic(
  config: ContivConfig,
  nodeConfig: NodeConfig | undefined,
  nodeName: string,
): readonly [boolean, Origin] {
  const found = nodeSection(config, nodeName);
  if (nodeConfig?.nat_external_traffic) return [true, resource];
  if (found?.section.natExternalTraffic)
    return [true, file(`nodeConfig.${found.index}.natExternalTraffic`)];
  return [config.natExternalTraffic, file('natExternalTraffic')];
}
