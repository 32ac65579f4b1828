import { errorText } from '#infra/errors/errors.ts';
import type { HostPort, MarkedLink, MarkedLinks } from '#plugins/controller/api/ports/host.ts';
import { type LinuxHost, NamespaceNotFoundError, type NamespacePath } from './api.ts';
import { isMarked, markOfAnyLabel } from './descriptors/link-marks.ts';

/** Namespaces that are read in one batch. */
const CONCURRENT_READS = 8;

const FIRST_PROCESS = '/proc/1/ns/net';

/**
 * @param hasIpv6 as determined when the host was prepared
 * @param hasSocketServices whether the kernel's table is open
 */
export function hostPort(
  host: LinuxHost,
  hasIpv6: () => boolean,
  hasSocketServices = false,
): HostPort {
  return {
    async links() {
      const { links } = await host.dump(undefined);
      return links
        .filter(({ alias }) => !isMarked(alias))
        .map(({ name, mtu, addresses }) => ({ name, mtu, addresses }));
    },
    markedLinks: () => markedLinks(host),
    bootId: () => host.bootId(),
    namespaceIdentity: (path) => host.namespaceIdentity(path),
    async ownNamespaces() {
      const own = [undefined, FIRST_PROCESS].map((path) => host.namespaceIdentity(path));
      return (await Promise.all(own)).filter((one) => one !== undefined);
    },
    hasIpv6: async () => hasIpv6(),
    hasSocketServices: async () => hasSocketServices,
    async connections(path) {
      try {
        return await host.connections(path);
      } catch (thrown) {
        if (thrown instanceof NamespaceNotFoundError) return [];
        throw thrown;
      }
    },
    enableIpv6: (path) => host.setSysctl(path, 'net.ipv6.conf.all.disable_ipv6', '0'),
  };
}

async function markedLinks(host: LinuxHost): Promise<MarkedLinks> {
  const paths: readonly NamespacePath[] = [undefined, ...(await host.namespaces())];
  const links: MarkedLink[] = [];
  const unlinked: string[] = [];
  const unreadable: string[] = [];
  for (let from = 0; from < paths.length; from += CONCURRENT_READS) {
    const slice = paths.slice(from, from + CONCURRENT_READS);
    const reads = await Promise.allSettled(slice.map((path) => markedLinksIn(host, path)));
    for (const [position, read] of reads.entries()) {
      const path = slice[position];
      if (read.status === 'fulfilled') {
        links.push(...read.value.links);
        if (path !== undefined && isMounted(path) && !read.value.isLinked) unlinked.push(path);
      }
      // deleted since it was listed
      else if (!(read.reason instanceof NamespaceNotFoundError))
        unreadable.push(`${path ?? 'own'}: ${errorText(read.reason)}`);
    }
  }
  return { links, unlinked, unreadable };
}

/** Services of the machine have namespaces without links, too, but do not mount them. */
function isMounted(namespace: string): boolean {
  return !namespace.startsWith('/proc/');
}

async function markedLinksIn(
  host: LinuxHost,
  namespace: NamespacePath,
): Promise<{ readonly links: readonly MarkedLink[]; readonly isLinked: boolean }> {
  const [identity, { links, neighbors }] = await Promise.all([
    host.namespaceIdentity(namespace),
    host.dump(namespace),
  ]);
  // deleted meanwhile: nothing runs in it
  if (!identity) return { links: [], isLinked: true };
  const isLinked = links.some(({ kind, up }) => kind !== 'loopback' && up);
  const marked = links.flatMap(({ name, alias, mac = '', addresses }) => {
    const mark = markOfAnyLabel(alias);
    if (!mark) return [];
    return [
      {
        ...(namespace !== undefined && { namespace }),
        namespaceIdentity: identity,
        name,
        logicalName: mark.name,
        otherEnd: mark.type === 'VETH' ? mark.peer : mark.vppTap,
        mac,
        addresses,
        neighbors: neighbors
          .filter(({ permanent, device }) => permanent && device === name)
          .map(({ address, mac: of }) => ({ address, mac: of })),
      },
    ];
  });
  return { links: marked, isLinked };
}
