/** Every effective value with its origin, as printed by `--print-config`. */
import type { LoadedConfig } from '#infra/config/load.ts';
import { type ContivConfig, type contivConfigSchema, contivDefaults } from './config.ts';
import type { NodeSettings, Origin } from './node-settings.ts';

export interface EffectiveOption {
  /** Path of the key in contiv.conf, or of a value of this node: `thisNode.gateway`. */
  readonly path: string;
  readonly value: unknown;
  /** `contiv.conf:3`, `default`, `NodeConfig resource` … */
  readonly origin: string;
}

type Loaded = Pick<LoadedConfig<typeof contivConfigSchema>, 'set' | 'where'>;

const origins: Readonly<Record<Exclude<Origin['source'], 'file'>, string>> = {
  resource: 'NodeConfig resource',
  stn: 'STN daemon: configuration of the host on the NIC',
  vpp: 'VPP: its first NIC that is not configured otherwise',
  none: 'not set',
};

export function effectiveOptions(
  config: ContivConfig,
  loaded: Loaded,
  settings: NodeSettings,
): readonly EffectiveOption[] {
  const fromFile = (path: string): string =>
    loaded.set.has(path) ? loaded.where(path) : 'default';
  const values = new Map(flatten('', config));
  // in the order of the schema, whatever that of the file
  const options = flatten('', contivDefaults)
    .filter(([path]) => path !== 'nodeConfig')
    .map(([path]) => ({ path, value: values.get(path), origin: fromFile(path) }));
  return [...options, ...nodeOptions(config, settings, fromFile)];
}

/** Sections of individual nodes are shown as their effect on this node. */
function nodeOptions(
  { ipamConfig }: ContivConfig,
  settings: NodeSettings,
  fromFile: (path: string) => string,
): readonly EffectiveOption[] {
  const { main, others, defaultGateways, natExternalTraffic, stn, origins: from } = settings;
  const isComputed =
    main.addresses.length === 0 && !main.useDhcp && ipamConfig.nodeInterconnectCIDR !== '';
  const rows: readonly (readonly [string, unknown, ...Origin[]])[] = [
    ['mainVPPInterface.interfaceName', main.name ?? '', from.mainName],
    [
      'mainVPPInterface.ip',
      isComputed ? `from ${ipamConfig.nodeInterconnectCIDR} by node ID` : main.addresses.join(','),
      isComputed ? { source: 'file', path: 'ipamConfig.nodeInterconnectCIDR' } : from.mainAddresses,
    ],
    ['mainVPPInterface.useDHCP', main.useDhcp, from.mainUseDhcp],
    ['otherVPPInterfaces', others, from.others],
    ['stealInterface', stn?.interfaceName === '' ? 'the first NIC' : stn?.interfaceName, from.stn],
    ['gateway', defaultGateways.join(','), ...from.defaultGateways],
    ['natExternalTraffic', natExternalTraffic, from.natExternalTraffic],
  ];
  const textOf = (origin: Origin): string =>
    origin.source === 'file' ? fromFile(origin.path) : origins[origin.source];
  return rows.map(([path, value = '', ...sources]) => ({
    path: `thisNode.${path}`,
    value,
    origin: [...new Set(sources.map(textOf))].join(', ') || origins.none,
  }));
}

/** Values that are not objects, with their paths; a list is one value. */
function flatten(prefix: string, value: object): [string, unknown][] {
  return Object.entries(value).flatMap(([key, child]): [string, unknown][] => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    const isBranch = typeof child === 'object' && child !== null && !Array.isArray(child);
    return isBranch ? flatten(path, child) : [[path, child]];
  });
}
