import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { LinuxHost } from './api.ts';
import { isMarked } from './descriptors/link-marks.ts';

const FIRST_PROCESS = '/proc/1/ns/net';

/** @param hasIpv6 as determined when the host was prepared */
export function hostPort(host: LinuxHost, hasIpv6: () => boolean): HostPort {
  return {
    async links() {
      const { links } = await host.dump(undefined);
      return links
        .filter(({ alias }) => !isMarked(alias))
        .map(({ name, mtu, addresses }) => ({ name, mtu, addresses }));
    },
    bootId: () => host.bootId(),
    namespaceIdentity: (path) => host.namespaceIdentity(path),
    async ownNamespaces() {
      const own = [undefined, FIRST_PROCESS].map((path) => host.namespaceIdentity(path));
      return (await Promise.all(own)).filter((one) => one !== undefined);
    },
    hasIpv6: async () => hasIpv6(),
    enableIpv6: (path) => host.setSysctl(path, 'net.ipv6.conf.all.disable_ipv6', '0'),
  };
}
