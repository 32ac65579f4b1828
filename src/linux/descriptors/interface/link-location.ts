import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinkLocation } from '../../api.ts';
import { namespacePath } from '../namespaces.ts';

/** Maximum length of a link's name in the kernel. */
export const HOST_NAME_LENGTH = 15;

/** Name in the kernel. */
export function hostNameOf(value: LinuxInterface): string {
  if (value.type === 'LOOPBACK') return 'lo';
  return value.host_if_name === '' ? value.name : value.host_if_name;
}

/** The desired location of the link. */
export function linkLocation(value: LinuxInterface): LinkLocation {
  return { namespace: namespacePath(value.namespace), name: hostNameOf(value) };
}
