/** The settings of the agent, from flags, environment variables and configuration files. */

import { join, resolve } from 'node:path';
import type { TObject } from 'typebox';
import {
  type BoltConfig,
  boltSchema,
  type EtcdConfig,
  etcdSchema,
  type MirrorConfig,
  mirrorSchema,
} from '#datastore/config.ts';
import { type FlowsConfig, flowsSchema } from '#flows/config.ts';
import { collectorAddress } from '#flows/export/collector-address.ts';
import { checkConfigFolder } from '#infra/config/config-folder.ts';
import { durationMs, parseDuration } from '#infra/config/duration.ts';
import {
  ConfigError,
  type ConfigFile,
  type ConfigSource,
  type LoadedConfig,
  loadConfig,
} from '#infra/config/load.ts';
import { type GrpcConfig, grpc2Schema, grpcSchema } from '#infra/grpc/config.ts';
import { type HttpConfig, httpSchema } from '#infra/http/config.ts';
import { withPort } from '#infra/http/port.ts';

import { type LogsConfig, logsSchema } from '#infra/log/loggers.ts';
import { type KafkaConfig, kafkaSchema } from '#infra/messaging/config.ts';
import { userAgentSocket, userNodeFolder } from '#infra/process/user-folder.ts';
import { serviceLabel } from '#infra/service-label/service-label.ts';
import { type StatusCheckConfig, statusCheckSchema } from '#infra/status/config.ts';
import { type KvSchedulerConfig, kvschedulerSchema } from '#kvscheduler/config.ts';
import { contivConfigFile, readContivConfig } from '#plugins/contivconf/api.ts';
import type { ContivConfig, contivConfigSchema } from '#plugins/contivconf/config.ts';
import { type ControllerConfig, controllerSchema } from '#plugins/controller/config.ts';
import { type ServiceConfig, serviceSchema } from '#plugins/service/config.ts';
import { type GovppConfig, govppSchema } from '#vpp/config.ts';
import { type TelemetryConfig, telemetrySchema } from '#vpp/telemetry/config.ts';
import type { AgentFlags } from './flags.ts';
import { type PluginsConfig, pluginsSchema } from './plugin-modules/config.ts';

/** Root folder of the agent, which contains `examples/`. */
const root = resolve(import.meta.dirname, '../../..');

/** Default of `--manifests`. */
export const shopManifests = join(root, 'examples/shop');

/** Start limit of the Go agent. */
const DEFAULT_START_LIMIT = '45s';
const LEAST_START_LIMIT_MS = 1_000;

/** Default of the deployment; without it a node has no address of its own. */
const EMBEDDED_NODE_SUBNET = '192.168.16.0/24';

export interface Settings {
  /** Service label, which is also the name of the node. */
  readonly label: string;
  readonly contiv: ContivConfig;
  /** The keys that the file of `contiv` sets, and their lines. */
  readonly contivFile: Pick<LoadedConfig<typeof contivConfigSchema>, 'set' | 'where'>;
  readonly controller: ControllerConfig;
  readonly http: HttpConfig;
  readonly logs: LogsConfig;
  readonly grpc: GrpcConfig;
  /** undefined: no services for external configuration. */
  readonly grpc2: GrpcConfig | undefined;
  /** undefined: the agent runs without etcd, on the local store alone. */
  readonly etcd: EtcdConfig | undefined;
  readonly bolt: BoltConfig;
  /** Only used with etcd. */
  readonly mirror: MirrorConfig;
  readonly govpp: GovppConfig;
  readonly kvscheduler: KvSchedulerConfig;
  readonly service: ServiceConfig;
  readonly flows: FlowsConfig;
  readonly plugins: PluginsConfig;
  readonly statusCheck: StatusCheckConfig;
  /** undefined: the agent does not use Kafka. */
  readonly kafka: KafkaConfig | undefined;
  readonly telemetry: TelemetryConfig;
  /** Set for an agent with embedded store and simulated VPP and Linux. */
  readonly embedded: { readonly manifests: string } | undefined;
  /** For the whole start of the agent (`STARTUPTIMEOUT`), milliseconds; 0: none. */
  readonly startLimitMs: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Unknown content of the files; one sentence each, with file and line. */
  readonly warnings: readonly string[];
}

/** @throws ConfigError with file and line */
export function readSettings(
  flags: AgentFlags,
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  checkFlags(flags);
  const source: ConfigSource = { flags: flags.values, env, configDir: flags.configDir };
  const warnings: string[] = [];
  const load = <S extends TObject>(file: ConfigFile<S>): LoadedConfig<S> => {
    const loaded = loadConfig(file, source);
    warnings.push(...loaded.warnings);
    return loaded;
  };
  const label = serviceLabel(flags.values, env);
  const contivFile = loadConfig(contivConfigFile, source);
  const contiv = readContivConfig(contivFile, label);
  warnings.push(...contiv.warnings);
  const etcd = load({ name: 'etcd', schema: etcdSchema });
  const grpc2 = load({ name: 'grpc2', schema: grpc2Schema });
  const kafka = load({ name: 'kafka', schema: kafkaSchema });
  const settings: Settings = {
    label,
    contiv: contiv.config,
    contivFile,
    controller: controllerConfig(load({ name: 'controller', schema: controllerSchema })),
    http: withPort(load({ name: 'http', schema: httpSchema }).value, source),
    logs: load({ name: 'logs', schema: logsSchema }).value,
    grpc: load({ name: 'grpc', schema: grpcSchema }).value,
    grpc2: grpc2.file === undefined ? undefined : grpc2.value,
    etcd: etcd.file === undefined ? undefined : etcd.value,
    bolt: load({ name: 'bolt', schema: boltSchema }).value,
    mirror: load({ name: 'mirror', schema: mirrorSchema }).value,
    govpp: load({ name: 'govpp', schema: govppSchema }).value,
    kvscheduler: load({ name: 'kvscheduler', schema: kvschedulerSchema }).value,
    service: serviceConfig(load({ name: 'service', schema: serviceSchema }), warnings),
    flows: flowsConfig(load({ name: 'flows', schema: flowsSchema })),
    plugins: load({ name: 'plugins', schema: pluginsSchema }).value,
    statusCheck: load({ name: 'status-check', schema: statusCheckSchema }).value,
    kafka: kafka.file === undefined ? undefined : kafka.value,
    telemetry: load({ name: 'telemetry', schema: telemetrySchema }).value,
    embedded: undefined,
    startLimitMs: startLimitMs(env),
    env,
    warnings,
  };
  if (!flags.embedded) return settings;
  return embeddedSettings(settings, flags.manifests ?? shopManifests);
}

function checkFlags({ configDir, embedded, manifests, nodes }: AgentFlags): void {
  checkConfigFolder(configDir);
  if (nodes > 1 && !embedded) throw new ConfigError('requires --embedded', { where: '--nodes' });
  if (manifests !== undefined && !embedded)
    throw new ConfigError('requires --embedded', { where: '--manifests' });
}

function startLimitMs(env: Readonly<Record<string, string | undefined>>): number {
  const text = env['STARTUPTIMEOUT'] || DEFAULT_START_LIMIT;
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new ConfigError(`"${text}" is not a duration such as 45s`, { where: 'STARTUPTIMEOUT' });
  if (ms !== 0 && ms < LEAST_START_LIMIT_MS)
    throw new ConfigError(`"${text}" is too short for a start: 0 or at least 1s`, {
      where: 'STARTUPTIMEOUT',
    });
  return ms;
}

/**
 * The embedded agent is for a developer's machine: it needs no privileges, stores its files in a folder
 * of its user, and listens on the loopback address only.
 */
function embeddedSettings(settings: Settings, manifests: string): Settings {
  const folder = userNodeFolder(settings.label);
  const port = settings.http.endpoint.slice(settings.http.endpoint.lastIndexOf(':') + 1);
  const { ipamConfig } = settings.contiv;
  const nodeInterconnectCIDR = ipamConfig.nodeInterconnectCIDR || EMBEDDED_NODE_SUBNET;
  return {
    ...settings,
    contiv: { ...settings.contiv, ipamConfig: { ...ipamConfig, nodeInterconnectCIDR } },
    http: {
      ...settings.http,
      endpoint: `127.0.0.1:${port}`,
      'local-socket': userAgentSocket(folder),
    },
    grpc: { ...settings.grpc, network: 'unix', endpoint: join(folder, 'cni.sock') },
    etcd: undefined,
    bolt: { ...settings.bolt, 'db-path': join(folder, 'store') },
    embedded: { manifests },
  };
}

function serviceConfig(
  { value, where }: LoadedConfig<typeof serviceSchema>,
  warnings: string[],
): ServiceConfig {
  const key = 'disableNATVirtualReassembly';
  if (value.disableNATVirtualReassembly)
    warnings.push(`${where(key)}: ${key} has no effect: VPP always reassembles for NAT`);
  return value;
}

/** @throws ConfigError if the collector has no address */
function flowsConfig({ value, where }: LoadedConfig<typeof flowsSchema>): FlowsConfig {
  const key = 'ipfixCollector';
  const { [key]: text } = value;
  if (text === '' || collectorAddress(text) !== undefined) return value;
  throw new ConfigError(`${key}: "${text}" is no address with a port of 1 to 65535`, {
    where: where(key),
  });
}

/** @throws ConfigError if the startup resync is overdue before the local mirror may be used */
function controllerConfig({ value, set, where }: LoadedConfig<typeof controllerSchema>) {
  if (durationMs(value.startupResyncDeadline) > durationMs(value.delayLocalResync)) return value;
  const key = set.has('startupResyncDeadline') ? 'startupResyncDeadline' : 'delayLocalResync';
  throw new ConfigError(
    `${key}: startupResyncDeadline has to be longer than delayLocalResync; otherwise the agent ends ` +
      'before it uses the local mirror',
    { where: where(key) },
  );
}
