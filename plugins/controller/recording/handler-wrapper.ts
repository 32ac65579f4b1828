import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  UpdateContext,
} from '../api/event-handler.ts';

export type AnyContext = ResyncContext | UpdateContext | RevertContext;

/** One call of a handler with something between the handler and its context. */
export interface WrappedContext<C extends AnyContext> {
  readonly ctx: C;
  /** Called when the handler is done, however it ended. */
  end(): Promise<void> | void;
}

/** Puts something between a handler and the contexts it gets; the handler does not notice. */
export function wrapHandler(
  inner: EventHandler,
  tap: <C extends AnyContext>(ctx: C) => WrappedContext<C>,
): EventHandler {
  async function through<C extends AnyContext, R>(ctx: C, run: (ctx: C) => R): Promise<Awaited<R>> {
    const tapped = tap(ctx);
    try {
      return await run(tapped.ctx);
    } finally {
      await tapped.end();
    }
  }
  return {
    name: inner.name,
    handlesEvent: (event) => inner.handlesEvent(event),
    resync: (ctx) => through(ctx, (tapped) => inner.resync(tapped)),
    update: (ctx) => through(ctx, (tapped) => inner.update(tapped)),
    revert: (ctx) => through(ctx, (tapped) => inner.revert(tapped)),
    ...(inner.describeInternalData && {
      describeInternalData: () => inner.describeInternalData?.() ?? '',
    }),
  };
}
