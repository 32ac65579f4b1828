/**
 * values.schema.json of the Helm chart: helm refuses values that the chart or a program would not read. The
 * keys of the configuration files are those of their schemas.
 */
import { configNames } from '#cmd/agent/flags.ts';
import type { ConfigDocument } from '../docs/config.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const texts: Schema = { type: 'array', items: { type: 'string', minLength: 1 } };
const port: Schema = { type: 'integer', minimum: 1, maximum: 65535 };
const quantity: Schema = {
  anyOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(m|k|[KMGT]i?)?$' },
  ],
};
const quantities: Schema = { type: 'object', additionalProperties: quantity };
const resources = object({ requests: quantities, limits: quantities });
const image = object({ repository: { type: 'string', minLength: 1 }, tag: text });
/** Values replace the default of the chart, or delete it with null. */
const folder: Schema = { type: 'string', pattern: '^/.' };
const nodeSelector: Schema = {
  type: 'object',
  additionalProperties: { type: ['string', 'null'] },
};

const ksrFiles = ['etcd', 'http', 'ksr', 'logs'];

export function valuesSchema(documents: readonly ConfigDocument[]): Schema {
  const files = (names: readonly string[]): Schema =>
    object(
      Object.fromEntries(
        names.map((name) => {
          const { schema } = documents.find(({ fileName }) => fileName === `${name}.conf`)!;
          return [name, fileSchema(schema as unknown as Schema)];
        }),
      ),
    );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...object({
      // helm adds it
      global: { type: 'object' },
      image: object({
        agent: image,
        vpp: image,
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
        pullSecrets: texts,
      }),
      agent: object({
        resources,
        config: files(configNames),
        tlsSecretName: text,
        moreCapabilities: texts,
      }),
      cni: object({ binFolder: folder, configFolder: folder }),
      vpp: object({
        resources,
        startupConfig: text,
        privileged: flag,
        deviceResources: quantities,
      }),
      ksr: object({
        replicas: { type: 'integer', minimum: 1 },
        apiServer: object({ address: text, port }),
        resources,
        config: files(ksrFiles),
      }),
      clusterNetworkPolicies: object({ installCrd: flag }),
      monitoring: object({
        enabled: flag,
        labels: { type: 'object', additionalProperties: text },
        runbooks: { type: 'string', minLength: 1 },
      }),
      stn: object({ enabled: flag, resources }),
      etcd: etcdSchema(),
    }),
  };
}

function etcdSchema(): Schema {
  const endpoints = {
    type: 'array',
    items: { type: 'string', pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^:/\\s]+):[0-9]+$' },
  };
  return object({
    enabled: flag,
    endpoints,
    image,
    nodeSelector,
    address: { type: 'string', pattern: '^[^/\\[\\]\\s]*$' },
    nodePort: port,
    dataFolder: folder,
    persistentVolume: object({ enabled: flag, storageClassName: text, size: quantity }),
    tls: object({ enabled: flag, secretName: text }),
    resources,
    proxies: { type: 'integer', minimum: 0 },
    proxyEndpoints: endpoints,
    proxyNodeSelector: nodeSelector,
    proxyResources: resources,
  });
}

function object(properties: Schema): Schema {
  return { type: 'object', properties, additionalProperties: false };
}

/** Without defaults: the chart has only keys that differ from them. */
function fileSchema(schema: Schema): Schema {
  const { default: _, description, properties, items, required: __, ...rest } = schema;
  return {
    ...(description !== undefined && { description }),
    ...rest,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties as Schema).map(([name, inner]) => [
          name,
          fileSchema(inner as Schema),
        ]),
      ),
      additionalProperties: false,
    }),
    ...(items !== undefined && { items: fileSchema(items as Schema) }),
  };
}
