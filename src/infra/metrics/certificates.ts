import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';

/** Files of certificates in PEM by their use, such as `etcd client`; those that are not configured are undefined or empty. */
export type CertificateFiles = Readonly<Record<string, string | undefined>>;

/** When the certificates of a program expire. The files are read with each request, because they are replaced while it runs. */
export function registerCertificates(registry: Registry, files: CertificateFiles): void {
  new Gauge({
    name: 'contiv_certificate_expiry_timestamp_seconds',
    help: 'Unix time at which a certificate expires, by its use; 0 if its file cannot be read.',
    labelNames: ['use'],
    registers: [registry],
    collect() {
      for (const [use, path] of Object.entries(files)) if (path) this.set({ use }, expiry(path));
    },
  });
}

/** Of the first certificate of the file. */
function expiry(path: string): number {
  try {
    return new X509Certificate(readFileSync(path)).validToDate.getTime() / 1000;
  } catch {
    return 0;
  }
}
