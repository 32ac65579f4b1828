/** Address, TLS and limits of the gRPC server, from its configuration. */
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { defineError, errorText } from '../errors/errors.ts';
import { hasCertificate } from '../http/certificate.ts';
import { parseEndpoint } from '../http/config.ts';
import type { GrpcConfig } from './config.ts';

export const GrpcConfigError = defineError({
  name: 'GrpcConfigError',
  code: 'CV_GRPC_CONFIG',
  rejects: 'configuration',
  remedy: 'Correct grpc.conf, or grpc2.conf for external configuration.',
});

export type GrpcAddress =
  | {
      /** Absolute path of the socket. */
      readonly socketPath: string;
      /** Mode of the socket, for example 0o700. */
      readonly mode: number;
      /** Whether to replace a stale socket, on which no process answers. */
      readonly replaceStale: boolean;
    }
  | { readonly host: string; readonly port: number };

export interface GrpcTls extends SecureContextOptions {
  /** Whether clients need a certificate of an authority in `ca`. */
  readonly requestCert: boolean;
}

export interface GrpcLimits {
  readonly maxMessageBytes: number;
  readonly maxCallsPerConnection: number;
}

const DEFAULT_MESSAGE_BYTES = 4 * 1024 * 1024;
const DEFAULT_CALLS = 100;

/**
 * The address of the server.
 * @throws GrpcConfigError also for an address that other machines reach without a certificate: its
 * clients can change the network of every pod
 */
export function grpcAddress(config: GrpcConfig): GrpcAddress {
  const address = configuredAddress(config);
  if (!isGuarded(address, config))
    throw new GrpcConfigError(
      'requires cert-file, key-file and ca-files, because other machines and pods reach this address',
      { where: `endpoint "${config.endpoint}"` },
    );
  return address;
}

/**
 * As `grpcAddress`, for a server without which the agent can work: the loopback address instead of one
 * that other machines reach without a certificate.
 * @throws GrpcConfigError
 */
export function guardedGrpcAddress(config: GrpcConfig): {
  readonly address: GrpcAddress;
  /** Whether it is another one than configured. */
  readonly isReplaced: boolean;
} {
  const address = configuredAddress(config);
  if (!('port' in address) || isGuarded(address, config)) return { address, isReplaced: false };
  const host = address.host.includes(':') ? '::1' : '127.0.0.1';
  return { address: { ...address, host }, isReplaced: true };
}

function configuredAddress(config: GrpcConfig): GrpcAddress {
  const { endpoint, network } = config;
  if (network === 'unix') {
    // Otherwise an address of the original's default network would become the name of a file.
    if (!isAbsolute(endpoint))
      throw new GrpcConfigError('has to be an absolute path with network: unix', {
        where: `endpoint "${endpoint}"`,
      });
    return {
      socketPath: endpoint,
      mode: Number.parseInt(String(config.permission), 8),
      replaceStale: config['force-socket-removal'],
    };
  }
  const address = parseEndpoint(endpoint);
  if (!address)
    throw new GrpcConfigError(`has to be address:port with network: ${network}`, {
      where: `endpoint "${endpoint}"`,
    });
  const isWildcard = address.host === '0.0.0.0';
  return { host: isWildcard && network === 'tcp6' ? '::' : address.host, port: address.port };
}

/** Whether only this machine, or clients with a certificate, can use the address. */
function isGuarded(address: GrpcAddress, config: GrpcConfig): boolean {
  return !('port' in address) || isLoopback(address.host) || config['ca-files'].length > 0;
}

function isLoopback(host: string): boolean {
  return /^127(\.[0-9]{1,3}){3}$/.test(host) || host === '::1' || host === 'localhost';
}

/** Options for TLS; undefined when it is not configured. @throws GrpcConfigError */
export function grpcTls(config: GrpcConfig): GrpcTls | undefined {
  const { 'cert-file': cert, 'key-file': key, 'ca-files': authorities } = config;
  const isSet = cert !== '' || key !== '' || authorities.length > 0;
  if (!isSet) return undefined;
  // With only a part of them the server would silently serve every client.
  if (config['insecure-transport'])
    throw new GrpcConfigError('insecure-transport excludes cert-file, key-file and ca-files');
  if (cert === '' || key === '')
    throw new GrpcConfigError('cert-file and key-file must both be set for TLS');
  const pair = { cert: read(cert), key: read(key) };
  const requestCert = authorities.length > 0;
  const tls = { ...pair, ...(requestCert && { ca: authorities.map(readAuthority) }), requestCert };
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw new GrpcConfigError(`invalid certificate or key: ${errorText(cause)}`, {
      where: cert,
      cause,
    });
  }
  return tls;
}

export function grpcLimits(config: GrpcConfig): GrpcLimits {
  return {
    maxMessageBytes: config['max-msg-size'] || DEFAULT_MESSAGE_BYTES,
    maxCallsPerConnection: config['max-concurrent-streams'] || DEFAULT_CALLS,
  };
}

function readAuthority(path: string): Buffer {
  const file = read(path);
  if (!hasCertificate(file)) throw new GrpcConfigError('has no certificate', { where: path });
  return file;
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new GrpcConfigError('cannot be read', { where: path, cause });
  }
}
