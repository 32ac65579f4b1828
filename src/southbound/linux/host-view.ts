import type { HostView } from '#nodeview/host.ts';
import type { LinuxHost } from './api.ts';

/** What the plugins may ask about the host. */
export function hostView(linux: LinuxHost): HostView {
  return {
    async addresses() {
      const { links } = await linux.dump(undefined);
      return links.flatMap((link) =>
        link.addresses.map((address) => ({ link: link.name, address })),
      );
    },
    bootId: () => linux.bootId(),
    namespaceIdentity: (path) => linux.namespaceIdentity(path),
  };
}
