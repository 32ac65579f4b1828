/** The settings of contiv-init, from flags, environment variables and the agent's configuration files. */
import type { TObject } from 'typebox';
import { boltSchema, etcdOptions, etcdSchema, mirrorSchema } from '#datastore/config.ts';
import type { EtcdOptions } from '#datastore/etcd/options.ts';
import { levelFolder, mirrorFolder } from '#datastore/level-folder.ts';
import { checkConfigFolder } from '#infra/config/config-folder.ts';
import { type ConfigFile, type ConfigSource, loadConfig } from '#infra/config/load.ts';
import { type GrpcConfig, grpcSchema } from '#infra/grpc/config.ts';
import { type LogsConfig, logsSchema } from '#infra/log/loggers.ts';
import { serviceLabel } from '#infra/service-label/service-label.ts';
import { type ContivConfig, contivConfigFile, readContivConfig } from '#plugins/contivconf/api.ts';
import type { InitFlags } from './flags.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export interface InitSettings {
  /** Name of the node. */
  readonly label: string;
  readonly contiv: ContivConfig;
  /** undefined: the agent runs without etcd. */
  readonly etcd: EtcdOptions | undefined;
  /** Folders of the agent's databases. */
  readonly localFolder: string;
  readonly mirrorFolder: string;
  readonly grpc: GrpcConfig;
  readonly logs: LogsConfig;
  readonly staysAfterCrash: boolean;
}

/** @throws ConfigError with file and line */
export function readSettings(flags: InitFlags, env: Variables): InitSettings {
  checkConfigFolder(flags.configDir);
  const source: ConfigSource = { flags: flags.values, env, configDir: flags.configDir };
  // The agent reads the same files, and warns about unknown keys in them.
  const load = <S extends TObject>(file: ConfigFile<S>) => loadConfig(file, source).value;
  const label = serviceLabel(flags.values, env);
  const contiv = readContivConfig(loadConfig(contivConfigFile, source), label).config;
  const etcd = loadConfig({ name: 'etcd', schema: etcdSchema }, source);
  const localFolder = levelFolder(load({ name: 'bolt', schema: boltSchema })['db-path']);
  const mirror = load({ name: 'mirror', schema: mirrorSchema });
  return {
    label,
    contiv,
    etcd: etcd.file === undefined ? undefined : etcdOptions(etcd.value, env),
    localFolder,
    mirrorFolder: mirrorFolder(localFolder, mirror['db-path']),
    grpc: load({ name: 'grpc', schema: grpcSchema }),
    logs: load({ name: 'logs', schema: logsSchema }),
    staysAfterCrash: Boolean(env['CRASH_DEBUG_ENABLED']),
  };
}
