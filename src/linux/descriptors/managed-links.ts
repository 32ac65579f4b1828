import type { KeyedValue, RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { NamespacePath } from '../api.ts';

/**
 * Logical names by name in the kernel, per namespace, of the interfaces that were just read back; if only some
 * values are read, of those on which they are.
 * @param interfaceOf name of the interface of a value
 */
export function managedLinks<V extends object>(
  ctx: RetrieveContext,
  correlate: readonly KeyedValue<V>[],
  interfaceOf: (value: V) => string,
): ReadonlyMap<NamespacePath, ReadonlyMap<string, string>> {
  const { only } = ctx;
  const requested = only && correlate.filter(({ key }) => only.has(key));
  const names = requested && new Set(requested.map(({ value }) => interfaceOf(value)));
  const all = new Map<NamespacePath, Map<string, string>>();
  for (const [key, metadata] of ctx.retrieved<LinuxInterfaceMetadata>('linux-interface')) {
    const name = linuxInterfaceKey.parse(key)?.name;
    if (name === undefined || names?.has(name) === false) continue;
    const links = all.get(metadata.namespace) ?? new Map<string, string>();
    all.set(metadata.namespace, links.set(metadata.hostIfName, name));
  }
  return all;
}
