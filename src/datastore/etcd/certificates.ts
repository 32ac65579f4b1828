import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { errorText } from '#infra/errors/errors.ts';
import { type EtcdTlsOptions, StoreConfigError } from './options.ts';

interface Content {
  readonly ca: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
}

/** The certificates of connections to etcd, whose files are replaced before they expire. */
export class Certificates {
  readonly #secure: boolean;
  readonly #tls: EtcdTlsOptions;
  #content: Content = { ca: null, cert: null, key: null };
  #credentials: ChannelCredentials;

  /** @throws StoreConfigError */
  constructor(secure: boolean, tls: EtcdTlsOptions = {}) {
    this.#secure = secure;
    this.#tls = tls;
    if (secure) this.#content = contentOf(tls);
    this.#credentials = this.#make();
  }

  /** For new connections: the same object as long as the content of the files is the same. */
  get credentials(): ChannelCredentials {
    return this.#credentials;
  }

  /** Reads the files again. While one of them is missing or half replaced, the last ones stay in use. */
  refresh(): void {
    if (!this.#secure) return;
    try {
      const content = contentOf(this.#tls);
      if (isSame(content, this.#content)) return;
      this.#content = content;
      this.#credentials = this.#make();
    } catch (thrown) {
      if (!(thrown instanceof StoreConfigError)) throw thrown;
    }
  }

  #make(): ChannelCredentials {
    if (!this.#secure) return credentials.createInsecure();
    const { ca, cert, key } = this.#content;
    const rejectUnauthorized = this.#tls.insecureSkipVerify !== true;
    return credentials.createSsl(ca, key, cert, { rejectUnauthorized });
  }
}

function contentOf(tls: EtcdTlsOptions): Content {
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined))
    throw new StoreConfigError('certificate and key must both be set', {
      where: 'cert-file, key-file',
    });
  const ca = pem('ca-file', tls.caFile, certificate);
  const cert = pem('cert-file', tls.certFile, certificate);
  const key = pem('key-file', tls.keyFile, createPrivateKey);
  if (cert && key && !certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new StoreConfigError('is not the key of the certificate', {
      where: `key-file ${tls.keyFile}`,
    });
  return { ca, cert, key };
}

function isSame(one: Content, other: Content): boolean {
  return (['ca', 'cert', 'key'] as const).every(
    (name) => (one[name] ?? '').toString() === (other[name] ?? '').toString(),
  );
}

function certificate(content: Buffer): X509Certificate {
  return new X509Certificate(content);
}

/** @param check throws for invalid content, which TLS would ignore silently */
function pem(
  option: string,
  file: string | undefined,
  check: (content: Buffer) => unknown,
): Buffer | null {
  if (file === undefined) return null;
  try {
    const content = readFileSync(file);
    check(content);
    return content;
  } catch (thrown) {
    throw new StoreConfigError(errorText(thrown), { where: `${option} ${file}`, cause: thrown });
  }
}
