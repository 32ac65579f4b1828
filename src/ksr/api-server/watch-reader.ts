import type { ApiClient } from './api-client.ts';
import { ApiResponseError } from './api-errors.ts';
import { PieceBuffer } from './piece-buffer.ts';
import { parseEvent, type WatchEvent } from './watch-event.ts';

/** A server that neither answers nor ends the watch at its time for so long hangs. */
const SILENCE_MS = 30_000;
const LINE_FEED = 0x0a;

export interface WatchRequest {
  readonly path: string;
  readonly resourceVersion: string;
  /** The server ends the watch after this time. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/**
 * Reads one watch until the server ends it, and passes the events of each piece that arrives on together.
 * @param opened called when the server has accepted the watch
 * @param received called for each piece, also without events when it has only a part of one
 * @throws CodedError; all events before the failure were passed on
 */
export async function readWatch(
  client: ApiClient,
  { path, resourceVersion, timeoutSeconds, signal }: WatchRequest,
  opened: () => void,
  received: (events: readonly WatchEvent[]) => void,
): Promise<void> {
  const query = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
  };
  const limits = { silenceMs: SILENCE_MS, quietMs: timeoutSeconds * 1000, signal };
  const unfinished = new PieceBuffer();
  for await (const piece of client.read({ method: 'GET', path, query }, limits, opened)) {
    const events: WatchEvent[] = [];
    try {
      let begin = 0;
      for (;;) {
        const end = piece.indexOf(LINE_FEED, begin);
        if (end < 0) break;
        const line = unfinished.take(piece, begin, end);
        begin = end + 1;
        if (line.trim() !== '') events.push(parseEvent(line, path));
      }
      unfinished.add(piece, begin);
    } finally {
      received(events);
    }
  }
  if (!unfinished.isEmpty)
    throw new ApiResponseError('the watch ended within a line', { where: path });
}
