import type { VppDescriptorOptions } from '../options.ts';
import type { FoundInterface } from './types/handler.ts';

/**
 * The fault of a TAP whose link was deleted past the agent: it is to be created again, with a new link. VPP
 * itself never notices.
 */
export function faultOfTap(
  { lostTapLinks }: Pick<VppDescriptorOptions, 'lostTapLinks'>,
  readBack: object,
  name: string,
  { fields, hostIfName, hostNamespace: namespace }: FoundInterface,
): string | undefined {
  if (fields.tap === undefined || hostIfName === undefined) return undefined;
  if (lostTapLinks?.has(readBack, name, { namespace, name: hostIfName }) !== true) return undefined;
  return `its link ${hostIfName} was deleted from the kernel`;
}
