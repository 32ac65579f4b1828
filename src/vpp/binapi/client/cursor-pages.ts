import { VppRefusedError } from '../retval-error.ts';
import type { Page } from './pending-kinds.ts';

const AGAIN = -165;
/** Cursor that begins a stream. */
const FROM_START = 0xffffffff;

/**
 * Asks for page after page of a cursor stream: VPP ends a page early when it has worked on it for
 * too long.
 * @throws VppRefusedError for another retval than "again", and when the stream stands still
 */
export async function collectPages(
  name: string,
  fetchPage: (cursor: number) => Promise<Page>,
): Promise<readonly object[]> {
  const all: object[] = [];
  for (let cursor = FROM_START; ; ) {
    const page = await fetchPage(cursor);
    for (const details of page.details) all.push(details);
    if (page.retval === 0) return all;
    const standsStill = page.cursor === cursor && page.details.length === 0;
    if (page.retval !== AGAIN || standsStill) throw new VppRefusedError(name, page.retval);
    cursor = page.cursor;
  }
}
