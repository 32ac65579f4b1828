/** State of the values of descriptors, and the values as they are in the southbound. */
import type { Scheduler } from '#kvscheduler/scheduler.ts';

export interface SouthboundValues {
  stateOf(key: string): { readonly state: string; readonly error?: string };
  /** The values with these keys, read from VPP or the kernel. */
  readActual(keys: ReadonlySet<string>): Promise<ReadonlyMap<string, object>>;
}

export function southboundValues(
  scheduler: Pick<Scheduler, 'status' | 'dump'>,
  descriptors: readonly string[],
): SouthboundValues {
  return {
    stateOf: (key) => {
      const { state, error } = scheduler.status(key).value;
      return { state, ...(error !== undefined && { error }) };
    },
    readActual: async (keys) => {
      const found = await Promise.all(
        descriptors.map((descriptor) => scheduler.dump('SB', { descriptor })),
      );
      return new Map(
        found
          .flat()
          .filter(({ Key }) => keys.has(Key))
          .map(({ Key, Value }) => [Key, Value.value]),
      );
    },
  };
}
