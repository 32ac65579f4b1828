/** The settings of contiv-ksr, from flags, environment variables and configuration files. */
import type { TObject } from 'typebox';
import { type EtcdConfig, etcdSchema } from '#datastore/config.ts';
import { checkConfigFolder } from '#infra/config/config-folder.ts';
import {
  type ConfigFile,
  type ConfigSource,
  type LoadedConfig,
  loadConfig,
} from '#infra/config/load.ts';
import { type HttpConfig, httpSchema } from '#infra/http/config.ts';
import { withPort } from '#infra/http/port.ts';
import { type LogsConfig, logsSchema } from '#infra/log/loggers.ts';
import { serviceLabel } from '#infra/service-label/service-label.ts';
import { type KsrConfig, ksrSchema } from '#ksr/config.ts';
import { type KsrFlags, KUBE_CONFIG_FLAG } from './flags.ts';

/** Agents read the records under this label. */
const DEFAULT_LABEL = 'contiv-ksr';
/** Unlike the defaults of http.conf these are not those of an agent, which may run beside it. */
const DEFAULT_ENDPOINT = '0.0.0.0:9191';
const DEFAULT_SOCKET = '/var/run/contiv/ksr.sock';

export interface Settings {
  readonly label: string;
  readonly ksr: KsrConfig;
  readonly etcd: EtcdConfig;
  readonly http: HttpConfig;
  readonly logs: LogsConfig;
  /** undefined: that of kubeadm, or the service account. */
  readonly kubeConfig: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Unknown content of the files; one sentence each, with file and line. */
  readonly warnings: readonly string[];
}

/** @throws ConfigError with file and line */
export function readSettings(
  flags: KsrFlags,
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  checkConfigFolder(flags.configDir);
  const source: ConfigSource = { flags: flags.values, env, configDir: flags.configDir };
  const warnings: string[] = [];
  const load = <S extends TObject>(file: ConfigFile<S>): LoadedConfig<S> => {
    const loaded = loadConfig(file, source);
    warnings.push(...loaded.warnings);
    return loaded;
  };
  const label = env['MICROSERVICE_LABEL'] || DEFAULT_LABEL;
  return {
    label: serviceLabel(flags.values, { MICROSERVICE_LABEL: label }),
    ksr: load({ name: 'ksr', schema: ksrSchema }).value,
    etcd: load({ name: 'etcd', schema: etcdSchema }).value,
    http: withPort(withDefaults(load({ name: 'http', schema: httpSchema })), source),
    logs: load({ name: 'logs', schema: logsSchema }).value,
    kubeConfig: flags.values[KUBE_CONFIG_FLAG] || env['KUBE_CONFIG'] || undefined,
    env,
    warnings,
  };
}

function withDefaults({ value, set }: LoadedConfig<typeof httpSchema>): HttpConfig {
  return {
    ...value,
    endpoint: set.has('endpoint') ? value.endpoint : DEFAULT_ENDPOINT,
    'local-socket': set.has('local-socket') ? value['local-socket'] : DEFAULT_SOCKET,
  };
}
