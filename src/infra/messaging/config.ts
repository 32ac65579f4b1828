import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { defineError, errorText } from '../errors/errors.ts';

export const MessagingConfigError = defineError({
  name: 'MessagingConfigError',
  code: 'CV_MESSAGING_CONFIG',
  rejects: 'configuration',
  remedy: 'Correct the key of kafka.conf that the error names.',
});

/** `kafka.conf`: the connection to Kafka. Without the file the agent does not use Kafka. */
export const kafkaSchema = Type.Object({
  addrs: Type.Array(Type.String(), {
    default: ['127.0.0.1:9092'],
    description: 'Addresses of brokers, as host:port. One of them is enough to find the others.',
  }),
  group_id: Type.String({
    default: '',
    description: 'Consumer group of the agent; empty: the service label.',
  }),
  tls: Type.Object(
    {
      enabled: Type.Boolean({ default: false, description: 'Use TLS.' }),
      'skip-verify': Type.Boolean({
        default: false,
        description: 'Accept any certificate of a broker.',
      }),
      'cert-file': Type.String({
        default: '',
        description: 'File with the client certificate.',
      }),
      'key-file': Type.String({
        default: '',
        description: 'File with the key of the client certificate.',
      }),
      'ca-file': Type.String({
        default: '',
        description: 'File with the certificate of the authority that signed those of the brokers.',
      }),
    },
    { default: {} },
  ),
  'events-topic': Type.String({
    default: '',
    description: 'Topic to which the agent publishes processed events; empty: it does not.',
  }),
  'interface-state-topic': Type.String({
    default: '',
    description:
      'Topic to which the agent publishes the state of interfaces (if_state in the original); empty: it does not.',
  }),
});
export type KafkaConfig = Static<typeof kafkaSchema>;

export interface Broker {
  readonly host: string;
  readonly port: number;
}

export interface KafkaTls {
  readonly rejectUnauthorized: boolean;
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface KafkaOptions {
  readonly brokers: readonly Broker[];
  readonly groupId: string;
  /** Shown by the brokers. */
  readonly clientId: string;
  readonly tls?: KafkaTls;
}

const DEFAULT_PORT = 9092;

/** @throws MessagingConfigError for an address, certificate or key that cannot be used */
export function kafkaOptions(config: KafkaConfig, label: string): KafkaOptions {
  const tls = config.tls.enabled ? tlsOptions(config.tls) : undefined;
  if (config.addrs.length === 0) throw new MessagingConfigError('is empty', { where: 'addrs' });
  return {
    brokers: config.addrs.map(brokerOf),
    groupId: config.group_id || label,
    clientId: label,
    ...(tls && { tls }),
  };
}

/** `host`, `host:port`, `[IPv6]` or `[IPv6]:port`. */
function brokerOf(address: string): Broker {
  const found = /^(?:\[([^\]]+)\]|([^:[\]\s]+))(?::([0-9]{1,5}))?$/.exec(address.trim());
  const port = Number(found?.[3] ?? DEFAULT_PORT);
  if (!found || port === 0 || port > 65_535)
    throw new MessagingConfigError(`"${address}" is not an address such as kafka:9092`, {
      where: 'addrs',
    });
  return { host: (found[1] ?? found[2])!, port };
}

function tlsOptions(config: KafkaConfig['tls']): KafkaTls {
  const { 'cert-file': certFile, 'key-file': keyFile, 'ca-file': caFile } = config;
  if ((certFile === '') !== (keyFile === ''))
    throw new MessagingConfigError('certificate and key must both be set', {
      where: 'tls.cert-file, tls.key-file',
    });
  const ca = pem('ca-file', caFile, (content) => new X509Certificate(content));
  const cert = pem('cert-file', certFile, (content) => new X509Certificate(content));
  const key = pem('key-file', keyFile, createPrivateKey);
  if (cert && key && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new MessagingConfigError('is not the key of the certificate', {
      where: `tls.key-file ${keyFile}`,
    });
  return {
    rejectUnauthorized: !config['skip-verify'],
    ...(ca && { ca }),
    ...(cert && key && { cert, key }),
  };
}

/** @param check throws for content that TLS would ignore */
function pem(key: string, file: string, check: (content: Buffer) => unknown): Buffer | undefined {
  if (file === '') return undefined;
  try {
    const content = readFileSync(file);
    check(content);
    return content;
  } catch (thrown) {
    throw new MessagingConfigError(errorText(thrown), {
      where: `tls.${key} ${file}`,
      cause: thrown,
    });
  }
}
