/** Finds references to interfaces that were deleted past the agent. VPP keeps some of them. */
import type { VppClient } from '../binapi/api.ts';
import { VppRefusedError } from '../binapi/retval-error.ts';

const INVALID_SW_IF_INDEX = -2;

/** Those of the indexes that no interface has. */
export async function missingInterfaces(
  client: VppClient,
  indexes: ReadonlySet<number>,
): Promise<ReadonlySet<number>> {
  const missing = new Set<number>();
  await Promise.all(
    [...indexes].map(async (index) => {
      if (!(await exists(client, index))) missing.add(index);
    }),
  );
  return missing;
}

/** A dump of all interfaces would not do: it lacks those that VPP hides. */
async function exists(client: VppClient, sw_if_index: number): Promise<boolean> {
  try {
    await client.request('sw_interface_get_table', { sw_if_index, is_ipv6: false });
    return true;
  } catch (thrown) {
    if (thrown instanceof VppRefusedError && thrown.retval === INVALID_SW_IF_INDEX) return false;
    throw thrown;
  }
}
