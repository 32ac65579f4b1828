/** The configuration of the agent in a support bundle, without secrets. */
import { type TObject, Type } from 'typebox';
import { parse } from 'yaml';
import { boltSchema, etcdSchema, mirrorSchema } from '#datastore/config.ts';
import { flowsSchema } from '#flows/config.ts';
import { findConfigFile } from '#infra/config/load.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { grpc2Schema, grpcSchema } from '#infra/grpc/config.ts';
import { httpSchema } from '#infra/http/config.ts';
import { logsSchema } from '#infra/log/loggers.ts';
import { kafkaSchema } from '#infra/messaging/config.ts';
import { statusCheckSchema } from '#infra/status/config.ts';
import type { Secrets } from '#infra/support-bundle/secrets.ts';
import { kvschedulerSchema } from '#kvscheduler/config.ts';
import { contivConfigSchema } from '#plugins/contivconf/config.ts';
import { controllerSchema } from '#plugins/controller/config.ts';
import { serviceSchema } from '#plugins/service/config.ts';
import { govppSchema } from '#vpp/config.ts';
import { telemetrySchema } from '#vpp/telemetry/config.ts';
import { type AgentFlags, configNames } from '../flags.ts';
import { pluginsSchema } from '../plugin-modules/config.ts';
import type { Settings } from '../settings.ts';

interface Configuration {
  readonly schema: TObject;
  readonly effective: (settings: Settings) => unknown;
}

const configurations: Readonly<Record<(typeof configNames)[number], Configuration>> = {
  contiv: { schema: contivConfigSchema, effective: ({ contiv }) => contiv },
  controller: { schema: controllerSchema, effective: ({ controller }) => controller },
  http: { schema: httpSchema, effective: ({ http }) => http },
  logs: { schema: logsSchema, effective: ({ logs }) => logs },
  grpc: { schema: grpcSchema, effective: ({ grpc }) => grpc },
  grpc2: { schema: grpc2Schema, effective: ({ grpc2 }) => grpc2 },
  etcd: { schema: etcdSchema, effective: ({ etcd }) => etcd },
  bolt: { schema: boltSchema, effective: ({ bolt }) => bolt },
  mirror: { schema: mirrorSchema, effective: ({ mirror }) => mirror },
  govpp: { schema: govppSchema, effective: ({ govpp }) => govpp },
  kvscheduler: { schema: kvschedulerSchema, effective: ({ kvscheduler }) => kvscheduler },
  service: { schema: serviceSchema, effective: ({ service }) => service },
  flows: { schema: flowsSchema, effective: ({ flows }) => flows },
  plugins: { schema: pluginsSchema, effective: ({ plugins }) => plugins },
  'status-check': { schema: statusCheckSchema, effective: ({ statusCheck }) => statusCheck },
  telemetry: { schema: telemetrySchema, effective: ({ telemetry }) => telemetry },
  kafka: { schema: kafkaSchema, effective: ({ kafka }) => kafka },
};

/** Variables that configure the agent, besides those that name a file. */
const variables = [
  'CNI_CONFIG_SOURCE',
  'CNI_CONFIG_TARGET',
  'ETCD_ENDPOINTS',
  'ETCDV3_ENDPOINTS',
  'HOST_IP',
  'HTTP_PORT',
  'INITIAL_LOGLVL',
  'KVSCHED_VERIFY_MODE',
  'STARTUPTIMEOUT',
];

const variableSchema = Type.Object(
  Object.fromEntries(variables.map((name) => [name, Type.String()])),
);

export interface ConfigurationFile {
  readonly name: string;
  /** undefined: it cannot be shown without its secrets. */
  readonly text: string | undefined;
  readonly error?: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** The files that the agent reads. Comments are left out, because they may contain anything. */
export function configurationFiles(
  flags: AgentFlags,
  env: Variables,
  secrets: Secrets,
): ConfigurationFile[] {
  const source = { flags: flags.values, env, configDir: flags.configDir };
  return configNames.flatMap((name): ConfigurationFile[] => {
    try {
      const found = findConfigFile({ name }, source);
      if (!found) return [];
      const value = secrets.withoutSecrets(parse(found.text), configurations[name].schema);
      return [{ name: `${name}.json`, text: jsonText({ file: found.path, value }) }];
    } catch (error) {
      return [{ name: `${name}.json`, text: undefined, error: invalidText(error, name) }];
    }
  });
}

/** Says where a configuration is invalid. The reason is left out: it may quote the text. */
export function invalidText(error: unknown, name: string): string {
  const where = (error instanceof CodedError && error.where) || name;
  return `${where}: the configuration is invalid; contiv-agent --print-config says why`;
}

/** The values that take effect, after defaults, flags and variables. */
export function effectiveSettings(settings: Settings, secrets: Secrets): string {
  const values = Object.entries(configurations).map(([name, { schema, effective }]) => [
    name,
    secrets.withoutSecrets(effective(settings), schema),
  ]);
  const { label, warnings, startLimitMs, env } = settings;
  const set = Object.fromEntries(variables.map((name) => [name, env[name]]));
  return jsonText({
    label,
    startLimitMs,
    warnings,
    variables: secrets.withoutSecrets(set, variableSchema),
    ...Object.fromEntries(values),
  });
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
