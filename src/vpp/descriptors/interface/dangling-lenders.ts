import type { VppClient } from '../../binapi/api.ts';
import { missingInterfaces } from '../missing-interfaces.ts';

/**
 * Returns the lenders by borrower that exist. A managed interface that borrows from an interface which was deleted past the agent
 * borrows no more: it would borrow from the next interface that gets the index, and VPP would refuse to
 * move it to its table.
 */
export async function releaseDanglingBorrowers(
  client: VppClient,
  lenders: ReadonlyMap<number, number>,
  managed: ReadonlyMap<number, string>,
): Promise<ReadonlyMap<number, number>> {
  const suspects = [...lenders].filter(
    ([borrower, lender]) => managed.has(borrower) && !managed.has(lender),
  );
  if (suspects.length === 0) return lenders;
  const missing = await missingInterfaces(client, new Set(suspects.map(([, lender]) => lender)));
  const dangling = suspects.filter(([, lender]) => missing.has(lender));
  await Promise.all(
    dangling.map(([borrower, lender]) =>
      client.request('sw_interface_set_unnumbered', {
        // in this message the first one is the lender
        sw_if_index: lender,
        unnumbered_sw_if_index: borrower,
        is_add: false,
      }),
    ),
  );
  const released = new Set(dangling.map(([borrower]) => borrower));
  return new Map([...lenders].filter(([borrower]) => !released.has(borrower)));
}
