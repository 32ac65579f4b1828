/** State of the values of a descriptor, and the values as they are in VPP. */
import type { Scheduler } from '#kvscheduler/scheduler.ts';

export interface ValuesInVpp {
  stateOf(key: string): { readonly state: string; readonly error?: string };
  /** The values with these keys, read from VPP. */
  readActual(keys: ReadonlySet<string>): Promise<ReadonlyMap<string, object>>;
}

export function valuesInVpp(
  scheduler: Pick<Scheduler, 'status' | 'dump'>,
  descriptor: string,
): ValuesInVpp {
  return {
    stateOf: (key) => {
      const { state, error } = scheduler.status(key).value;
      return { state, ...(error !== undefined && { error }) };
    },
    readActual: async (keys) => {
      const found = await scheduler.dump('SB', { descriptor });
      return new Map(
        found.filter(({ Key }) => keys.has(Key)).map(({ Key, Value }) => [Key, Value.value]),
      );
    },
  };
}
