/**
 * Which Host headers are accepted. A web page can let a browser resolve its own name to an address
 * of the node (DNS rebinding) and then read replies as its own. Such a request names the host of the
 * page, which is a public name.
 */
import { isIP } from 'node:net';

/** Suffixes of names inside a cluster, which public DNS does not have. */
const clusterSuffixes = ['.svc', '.cluster.local'];

/** @param machine name of this machine */
export function isAcceptedHost(header: string | undefined, machine: string): boolean {
  // HTTP/1.0 probes send none; every browser does.
  if (header === undefined || header === '') return true;
  const host = hostOf(header).toLowerCase();
  return (
    isIP(host) !== 0 ||
    !host.includes('.') ||
    host === machine.toLowerCase() ||
    clusterSuffixes.some((suffix) => host.endsWith(suffix))
  );
}

/**
 * Whether a request comes from a page of this server, or from no page: a browser sends the credentials
 * that it has stored also with a form of another site.
 */
export function isOwnSite(origin: string | undefined, host: string | undefined): boolean {
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
}

/** The host without the port. */
function hostOf(header: string): string {
  const [, bracketed, plain] = /^(?:\[([^[\]]*)\]|([^[\]:]*))(?::[0-9]*)?$/.exec(header) ?? [];
  return bracketed ?? plain ?? header;
}
