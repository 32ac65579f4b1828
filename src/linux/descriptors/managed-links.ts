import type { RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { NamespacePath } from '../api.ts';

/** Logical names by name in the kernel, per namespace, of the interfaces that were just read back. */
export function managedLinks(
  ctx: RetrieveContext,
): ReadonlyMap<NamespacePath, ReadonlyMap<string, string>> {
  const all = new Map<NamespacePath, Map<string, string>>();
  for (const [key, metadata] of ctx.retrieved<LinuxInterfaceMetadata>('linux-interface')) {
    const name = linuxInterfaceKey.parse(key)?.name;
    if (name === undefined) continue;
    const links = all.get(metadata.namespace) ?? new Map<string, string>();
    all.set(metadata.namespace, links.set(metadata.hostIfName, name));
  }
  return all;
}
