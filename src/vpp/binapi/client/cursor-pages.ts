import { VppRefusedError } from '../retval-error.ts';
import type { Page } from './pending-kinds.ts';

const AGAIN = -165;
/** Cursor of the first page. */
const FROM_START = 0xffffffff;

/**
 * Requests all pages of a cursor stream. VPP ends a page early when processing takes too long.
 * @throws VppRefusedError for a retval other than "again", and when the cursor does not advance
 */
export async function requestPages(
  name: string,
  fetchPage: (cursor: number) => Promise<Page>,
): Promise<void> {
  for (let cursor = FROM_START; ; ) {
    const page = await fetchPage(cursor);
    if (page.retval === 0) return;
    const standsStill = page.cursor === cursor && page.details === 0;
    if (page.retval !== AGAIN || standsStill) throw new VppRefusedError(name, page.retval);
    cursor = page.cursor;
  }
}
