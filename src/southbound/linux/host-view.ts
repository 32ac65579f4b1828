import type { HostView } from '#nodeview/host.ts';
import type { LinuxHost } from './api.ts';

export function hostView(host: LinuxHost): HostView {
  return {
    async addresses() {
      const { links } = await host.dump(undefined);
      return links.flatMap(({ name, addresses }) =>
        addresses.map((address) => ({ link: name, address })),
      );
    },
    bootId: () => host.bootId(),
    namespaceIdentity: (path) => host.namespaceIdentity(path),
  };
}
