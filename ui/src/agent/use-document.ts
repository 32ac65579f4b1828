/** A REST document in a component: requested when the component is shown, and again while it is. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { agentRun, eventBatches } from './event-stream.ts';
import { isVisible } from './page-visibility.ts';
import { getDocument, RequestError, type Source } from './request.ts';

export interface Loaded<T> {
  /** The last that was received, also after a failed request. */
  readonly document: T | undefined;
  /** Of the last request. */
  readonly error: RequestError | undefined;
  readonly isLoading: boolean;
}

export interface Refresh {
  /** Milliseconds between two requests. */
  readonly everyMs?: number;
  /** Whether to request it again after events, at most once a second. */
  readonly afterEvents?: boolean;
  /** Default: shown. */
  readonly source?: Source;
}

const AFTER_EVENTS_MS = 1_000;
/** After a failure, unless the document is requested more often anyway. */
const RETRY_MS = 3_000;

/**
 * @param path of the document, with its arguments; undefined: there is nothing to show
 */
export function useDocument<T>(
  path: string | undefined,
  { everyMs, afterEvents, source = 'shown' }: Refresh = {},
): Loaded<T> {
  const loaded = useSignal<Loaded<T>>({
    document: undefined,
    error: undefined,
    isLoading: path !== undefined,
  });
  // Not of the clock: one that is set back would suppress requests until it has caught up.
  const wantedAt = useSignal(0);

  useSignalEffect(() => {
    if (!afterEvents || eventBatches.value === 0) return;
    wantedAt.value = performance.now();
  });

  useEffect(() => {
    if (path === undefined) {
      loaded.value = { document: undefined, error: undefined, isLoading: false };
      return undefined;
    }
    const unmounted = new AbortController();
    const retryMs = Math.min(everyMs ?? RETRY_MS, RETRY_MS);
    let timer: number | undefined;
    let startedAt = 0;
    let isRunning = false;
    /** Of the agent that has sent the document. */
    let ofRun = agentRun.peek();
    loaded.value = { document: undefined, error: undefined, isLoading: true };

    const run = async () => {
      clearTimeout(timer);
      if (isRunning || !isVisible.peek()) return;
      isRunning = true;
      startedAt = performance.now();
      try {
        const document = await getDocument<T>(path, source, unmounted.signal);
        if (unmounted.signal.aborted) return;
        ofRun = agentRun.peek();
        loaded.value = { document, error: undefined, isLoading: false };
      } catch (error) {
        if (unmounted.signal.aborted) return;
        if (!(error instanceof RequestError)) throw error;
        // The agent that was restarted does not know it: then it says nothing about the present.
        const isGone = error.status === 404 && ofRun !== agentRun.peek();
        const document = isGone ? undefined : loaded.peek().document;
        loaded.value = { document, error, isLoading: false };
      } finally {
        isRunning = false;
      }
      schedule();
    };
    const schedule = () => {
      clearTimeout(timer);
      if (isRunning) return;
      // Until the user has logged in and comes back: the browser may ask for a password each time.
      if (loaded.peek().error?.status === 401) return;
      const isAsked = wantedAt.peek() > startedAt;
      const waitMs = isAsked ? AFTER_EVENTS_MS : loaded.peek().error ? retryMs : everyMs;
      if (waitMs === undefined) return;
      timer = setTimeout(() => void run(), Math.max(0, startedAt + waitMs - performance.now()));
    };
    const unwatch = [
      wantedAt.subscribe((at) => {
        if (at > 0) schedule();
      }),
      agentRun.subscribe((current) => {
        if (current !== ofRun) void run();
      }),
      isVisible.subscribe((visible) => {
        if (visible) void run();
      }),
    ];
    return () => {
      clearTimeout(timer);
      unmounted.abort();
      for (const end of unwatch) end();
    };
  }, [path, everyMs, afterEvents, source]);

  return loaded.value;
}
