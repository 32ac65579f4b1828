import { allSettled } from '#infra/rollback/rollback.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import type { FoundInterface } from './types/handler.ts';

/** A managed interface, with its link in the kernel if it has one. */
export interface LinkedInterface {
  readonly name: string;
  readonly found: Pick<FoundInterface, 'swIfIndex' | 'fields' | 'hostIfName'>;
}

/**
 * Deletes TAPs whose links were deleted past the agent, so that they are created again with new links. VPP
 * itself never notices.
 * @returns the other interfaces
 */
export async function withoutDeadTaps<T extends LinkedInterface>(
  { client, log, lostTapLinks }: Pick<VppDescriptorOptions, 'client' | 'log' | 'lostTapLinks'>,
  readBack: object,
  interfaces: readonly T[],
): Promise<readonly T[]> {
  const dead = interfaces.filter(
    ({ name, found: { fields, hostIfName } }) =>
      fields.tap !== undefined &&
      hostIfName !== undefined &&
      lostTapLinks?.has(readBack, name, hostIfName) === true,
  );
  await allSettled(
    dead.map(({ name, found: { swIfIndex, hostIfName } }) => {
      log.warn({ name, link: hostIfName }, 'deleting a TAP whose link was deleted from the kernel');
      return ignoreNotFound(client.request('tap_delete_v2', { sw_if_index: swIfIndex }));
    }),
  );
  return interfaces.filter((one) => !dead.includes(one));
}
