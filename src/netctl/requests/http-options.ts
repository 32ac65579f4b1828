/**
 * How nodes are asked: the file of `--http-client-config` (or HTTP_CLIENT_CONFIG) with the keys of the
 * original and those of private certificates, overridden by flags.
 */
import { readFileSync } from 'node:fs';
import type { checkServerIdentity } from 'node:tls';
import { defineError, errorText } from '#infra/errors/errors.ts';

export const HttpClientConfigError = defineError({
  name: 'HttpClientConfigError',
  code: 'CV_NETCTL_HTTP_CONFIG',
  rejects: 'configuration',
  remedy:
    'Correct the file of --http-client-config; docs/netctl.md lists its keys with an example.',
});

export interface HttpFlags {
  readonly file: string | undefined;
  readonly port: number | undefined;
  readonly https: boolean | undefined;
  readonly insecure: boolean | undefined;
  readonly caFile: string | undefined;
  readonly user: string | undefined;
  readonly token: string | undefined;
}

export interface HttpOptions {
  readonly port: number;
  readonly isHttps: boolean;
  readonly tls: TlsOptions;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
}

export interface TlsOptions {
  readonly rejectUnauthorized?: boolean;
  readonly ca?: Buffer | Buffer[];
  readonly allowPartialTrustChain?: boolean;
  readonly checkServerIdentity?: typeof checkServerIdentity;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

const DEFAULT_PORT = 9999;
const MAX_PORT = 65_535;

const types = {
  port: 'number',
  'basic-auth': 'string',
  'use-https': 'boolean',
  'verify-server-cert': 'boolean',
  'ca-file': 'string',
  'cert-file': 'string',
  'key-file': 'string',
} as const;

type Key = keyof typeof types;
type Settings = Partial<Record<Key, string | number | boolean>>;

/**
 * @param parse of YAML, which JSON is too; called only when there is a file
 * @throws HttpClientConfigError
 */
export async function httpOptions(
  flags: HttpFlags,
  env: Readonly<Record<string, string | undefined>>,
  parse: () => Promise<(text: string) => unknown>,
): Promise<HttpOptions> {
  const file = flags.file || env['HTTP_CLIENT_CONFIG'] || undefined;
  const settings = file === undefined ? {} : checked(await readConfig(file, parse), file);
  const [user, password] = credentialsOf(settings['basic-auth'], file);
  const caFile = flags.caFile ?? settings['ca-file'];
  const isInsecure = flags.insecure ?? settings['verify-server-cert'] === false;
  return {
    port: flags.port ?? Number(settings.port ?? DEFAULT_PORT),
    isHttps: flags.https ?? settings['use-https'] === true,
    tls: {
      ...(isInsecure && { rejectUnauthorized: false }),
      ...(caFile !== undefined && { ca: read(String(caFile)) }),
      ...('cert-file' in settings && { cert: read(String(settings['cert-file'])) }),
      ...('key-file' in settings && { key: read(String(settings['key-file'])) }),
    },
    user: flags.user ?? (env['NETCTL_USER'] || user),
    password: env['NETCTL_PASSWORD'] || password,
    token: flags.token ?? (env['NETCTL_TOKEN'] || undefined),
  };
}

async function readConfig(
  file: string,
  parse: () => Promise<(text: string) => unknown>,
): Promise<unknown> {
  const text = read(file).toString();
  try {
    return (await parse())(text) ?? {};
  } catch (cause) {
    throw new HttpClientConfigError(errorText(cause), { where: file, cause });
  }
}

function checked(document: unknown, file: string): Settings {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new HttpClientConfigError('is not a list of keys and values', { where: file });
  const settings: Settings = {};
  for (const [key, value] of Object.entries(document)) {
    if (!isKey(key))
      throw new HttpClientConfigError(
        `unknown key ${key}; known: ${Object.keys(types).join(', ')}`,
        { where: file },
      );
    // The original reads the port as text.
    const its = key === 'port' && typeof value === 'string' ? Number(value) : value;
    if (typeof its !== types[key])
      throw new HttpClientConfigError(`${key} has to be a ${types[key]}`, { where: file });
    settings[key] = its;
  }
  const { port = DEFAULT_PORT } = settings;
  if (!Number.isInteger(port) || Number(port) < 1 || Number(port) > MAX_PORT)
    throw new HttpClientConfigError('port is not a port number', { where: file });
  return settings;
}

function isKey(text: string): text is Key {
  return Object.hasOwn(types, text);
}

function credentialsOf(
  text: Settings[Key],
  file: string | undefined,
): [user?: string, password?: string] {
  if (text === undefined || text === '') return [];
  const [, user, password] = /^([^:]+):(.*)$/s.exec(String(text)) ?? [];
  if (user === undefined)
    throw new HttpClientConfigError('basic-auth has to be user:password', { where: file });
  return [user, password ?? ''];
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new HttpClientConfigError(`cannot be read: ${code}`, { where: path, cause });
  }
}
