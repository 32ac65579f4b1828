import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface CertificateOptions {
  /** Names and addresses of the server, as OpenSSL writes them; default: `DNS:localhost`. */
  readonly names?: string;
  /** Days until it expires; 0: within a second. Default 2. */
  readonly days?: number;
  /** Default: the name; empty: none. */
  readonly commonName?: string;
}

/** Makes `<name>.key` and `<name>.crt` for localhost; an authority signs itself. */
export function makeCertificate(
  folder: string,
  name: string,
  authority: string,
  { names = 'DNS:localhost', days = 2, commonName = name }: CertificateOptions = {},
): void {
  const file = (extension: string) => join(folder, `${name}.${extension}`);
  const run = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const subject = [
    '-subj',
    commonName === '' ? '/' : `/CN=${commonName}`,
    '-addext',
    `subjectAltName=${names}`,
  ];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const own = [...key, ...subject, '-keyout', file('key')];
  if (name === authority) {
    run('req', '-x509', ...own, '-out', file('crt'), '-days', '2');
    return;
  }
  run('req', '-new', ...own, '-out', file('csr'));
  const signer = [
    '-CA',
    join(folder, `${authority}.crt`),
    '-CAkey',
    join(folder, `${authority}.key`),
  ];
  const copy = ['-copy_extensions', 'copy', '-CAcreateserial', '-days', String(days)];
  run('x509', '-req', '-in', file('csr'), ...signer, ...copy, '-out', file('crt'));
}
