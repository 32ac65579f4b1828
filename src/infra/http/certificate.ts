/** The certificates of the endpoint. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerOptions } from 'node:https';
import { defineError } from '../errors/errors.ts';
import type { HttpConfig } from './config.ts';

export const HttpConfigError = defineError({
  name: 'HttpConfigError',
  code: 'CV_HTTP_CONFIG',
  rejects: 'configuration',
  remedy: 'Correct http.conf or the flag --http-port.',
});

/** Options for HTTPS; undefined when it is not configured. @throws HttpConfigError */
export function tlsOptions(config: HttpConfig): ServerOptions | undefined {
  const cert = config['server-cert-file'];
  const key = config['server-key-file'];
  const clients = config['client-cert-files'];
  // With only a part of them the server would silently serve every client.
  if (clients.length > 0 && !(cert && key))
    throw new HttpConfigError('client-cert-files requires server-cert-file and server-key-file');
  if (!cert && !key) return undefined;
  if (!cert || !key)
    throw new HttpConfigError('server-cert-file and server-key-file must both be set');
  const pair = { cert: read(cert), key: read(key) };
  if (clients.length === 0) return pair;
  // The request is refused, not the handshake: kubelet's probes have no certificate.
  return { ...pair, ca: clients.map(readAuthority), requestCert: true, rejectUnauthorized: false };
}

/** Node.js accepts any file of authorities, and then no client. */
export function hasCertificate(file: Buffer): boolean {
  try {
    return Boolean(new X509Certificate(file));
  } catch {
    return false;
  }
}

function readAuthority(path: string): Buffer {
  const file = read(path);
  if (!hasCertificate(file)) throw new HttpConfigError('has no certificate', { where: path });
  return file;
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new HttpConfigError('cannot be read', { where: path, cause });
  }
}
