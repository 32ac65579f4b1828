/**
 * `contiv-agent --print-config`: every effective value and where it comes from, as YAML with comments.
 * Nothing is changed. Who cannot be asked just now (the cluster's store, VPP, the STN daemon) is named
 * at the end: what he would have said is missing.
 */

import { etcdOptions } from '#datastore/config.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type NodeConfig, nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import {
  type ConfigSources,
  dpdkNics,
  effectiveOptions,
  resolveNode,
  stolenNic,
} from '#plugins/contivconf/api.ts';
import { stnDaemonClient } from '#stn/daemon-client.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { vppPort } from '#vpp/vpp-port.ts';
import type { Settings } from './settings.ts';

/** For each that is asked. */
const LIMIT_MS = 3_000;

interface PrintConfigDeps {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
}

export async function printConfig(
  parts: PrintConfigDeps,
  print: (text: string) => void,
): Promise<void> {
  const { settings } = parts;
  const silent: string[] = [];
  const asked = async <T>(who: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await within(parts.clock, ask());
    } catch (error) {
      silent.push(`${who}: ${errorText(error)}`);
      return undefined;
    }
  };
  const sources = await sourcesOf(parts, asked);
  const node = resolveNode(sources);
  const options = effectiveOptions(settings.contiv, settings.contivFile, node);
  const width = Math.max(...options.map(({ path, value }) => `${path}: ${shown(value)}`.length));
  const lines = options.map(
    ({ path, value, origin }) => `${`${path}: ${shown(value)}`.padEnd(width)}  # ${origin}`,
  );
  const notes = [
    ...node.problems.map((problem) => `# ${problem}`),
    ...settings.warnings.map((warning) => `# ${warning}`),
    ...silent.map((who) => `# not asked: ${who}`),
  ];
  print(`# contiv-agent on node ${settings.label}\n${[...lines, ...notes].join('\n')}\n`);
}

type Asked = <T>(who: string, ask: () => Promise<T>) => Promise<T | undefined>;

async function sourcesOf(parts: PrintConfigDeps, asked: Asked): Promise<ConfigSources> {
  const { settings, clock } = parts;
  const { contiv: file, label: nodeName } = settings;
  const nodeConfig = file.crdNodeConfigurationDisabled
    ? undefined
    : await asked('the NodeConfig resource', () => readNodeConfig(parts));
  const known = { file, nodeName, nodeConfig };
  const [nic] = stolenNic(known);
  const [nics = [], stolen] = settings.embedded
    ? []
    : await Promise.all([
        asked('VPP', () => readNics(parts)),
        nic === undefined
          ? undefined
          : asked('the STN daemon', () =>
              stnDaemonClient(file.stnSocketFile, clock).stolenInterface(nic),
            ),
      ]);
  return { ...known, nics, stolen };
}

/** A running agent holds the local store: only a store of the cluster can be asked beside it. */
async function readNodeConfig({
  settings,
  clock,
}: PrintConfigDeps): Promise<NodeConfig | undefined> {
  if (!settings.etcd) throw new Error('there is no etcd.conf');
  const store = new EtcdStore(etcdOptions(settings.etcd, settings.env), clock);
  try {
    const key = REFLECTOR_PREFIX + resources.nodeconfig.key(settings.label, '');
    const text = await store.get(key);
    return text === undefined ? undefined : nodeConfigModel.parse(JSON.parse(text), key);
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

/** YAML takes JSON. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w./-]+$/.test(value) ? value : JSON.stringify(value);
}
