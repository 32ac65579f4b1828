/**
 * `contiv-agent --print-config`: every effective value and its origin, as YAML with comments. It
 * changes nothing. Sources that are unavailable (the cluster's store, VPP, the STN daemon) are listed
 * at the end: their values are missing from the output.
 */

import { etcdOptions } from '#datastore/config.ts';
import { openEtcd } from '#datastore/open-etcd.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type NodeConfig, nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import {
  type ConfigSources,
  dpdkNics,
  type EffectiveOption,
  effectiveOptions,
  ipamConfig,
  resolveNode,
  stolenNic,
} from '#plugins/contivconf/api.ts';
import type { ContivConfig } from '#plugins/contivconf/config.ts';
import { effectiveSubnets } from '#plugins/ipam/api.ts';
import { stnDaemonClient } from '#stn/daemon-client.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { vppPort } from '#vpp/vpp-port.ts';
import type { Settings } from './settings.ts';

/** Time limit of each source. */
const LIMIT_MS = 3_000;

interface PrintConfigDeps {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
}

export async function printConfig(
  deps: PrintConfigDeps,
  print: (text: string) => void,
): Promise<void> {
  const { settings } = deps;
  const unavailable: string[] = [];
  const query: Query = async (source, read) => {
    try {
      return await within(deps.clock, read());
    } catch (error) {
      unavailable.push(`${source}: ${errorText(error)}`);
      return undefined;
    }
  };
  const sources = await sourcesOf(deps, query);
  const node = resolveNode(sources);
  const options = effectiveOptions(settings.contiv, settings.contivFile, node).map(
    withDerivedSubnets(settings.contiv),
  );
  const width = Math.max(...options.map(({ path, value }) => `${path}: ${shown(value)}`.length));
  const lines = options.map(
    ({ path, value, origin }) => `${`${path}: ${shown(value)}`.padEnd(width)}  # ${origin}`,
  );
  const notes = [
    ...node.problems.map(({ text }) => `# ${text}`),
    ...settings.warnings.map((warning) => `# ${warning}`),
    ...unavailable.map((source) => `# unavailable: ${source}`),
  ];
  print(`# contiv-agent on node ${settings.label}\n${[...lines, ...notes].join('\n')}\n`);
}

/** contivCIDR overrides the subnets that the file sets. */
function withDerivedSubnets(contiv: ContivConfig): (option: EffectiveOption) => EffectiveOption {
  if (contiv.ipamConfig.contivCIDR === '') return (option) => option;
  const subnets = effectiveSubnets(ipamConfig(contiv));
  return (option) => {
    const derived = subnets[option.path.replace('ipamConfig.', '')];
    if (derived === undefined || derived === option.value) return option;
    return { ...option, value: derived, origin: 'derived from contivCIDR' };
  };
}

/** Reads a source; undefined when it is unavailable. */
type Query = <T>(source: string, read: () => Promise<T>) => Promise<T | undefined>;

async function sourcesOf(deps: PrintConfigDeps, query: Query): Promise<ConfigSources> {
  const { settings, clock } = deps;
  const { contiv: file, label: nodeName } = settings;
  const nodeConfig = file.crdNodeConfigurationDisabled
    ? undefined
    : await query('the NodeConfig resource', () => readNodeConfig(deps));
  const known = { file, nodeName, nodeConfig };
  const [nic] = stolenNic(known);
  const [nics = [], stolen] = settings.embedded
    ? []
    : await Promise.all([
        query('VPP', () => readNics(deps)),
        nic === undefined
          ? undefined
          : query('the STN daemon', () =>
              stnDaemonClient(file.stnSocketFile, clock).stolenInterface(nic),
            ),
      ]);
  return { ...known, nics, stolen };
}

/** A running agent locks the local store, so only etcd can be read beside it. */
async function readNodeConfig({
  settings,
  clock,
}: PrintConfigDeps): Promise<NodeConfig | undefined> {
  if (!settings.etcd) throw new Error('no etcd.conf was found');
  const store = await openEtcd(etcdOptions(settings.etcd, settings.env), clock);
  try {
    const key = REFLECTOR_PREFIX + resources.nodeconfig.key(settings.label, '');
    const text = await store.get(key);
    return text === undefined ? undefined : nodeConfigModel.parseKnown(JSON.parse(text), key).value;
  } finally {
    await store.close();
  }
}

async function readNics({ settings, clock, random }: PrintConfigDeps): Promise<readonly string[]> {
  const connect = unixConnect(settings.govpp['binapi-socket-path'], clock);
  const client = new BinapiClient({ connect, clock, random, log: silentLogger, name: 'config' });
  client.start();
  try {
    await within(clock, client.whenConnected());
    return dpdkNics(await vppPort(client).interfaces());
  } finally {
    await client.close();
  }
}

function within<T>(clock: Clock, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = clock.timer(LIMIT_MS, () => reject(new Error(`no answer in ${LIMIT_MS} ms`)));
  return Promise.race([promise, late]).finally(() => timer.cancel());
}

/** JSON is valid YAML. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w./-]+$/.test(value) ? value : JSON.stringify(value);
}
