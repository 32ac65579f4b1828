import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  Tell,
  Undo,
  UpdateContext,
} from '../api/event-handler.ts';

export type AnyContext = ResyncContext | UpdateContext | RevertContext;

/** A wrapped context for one call of a handler. */
export interface WrappedContext<C extends AnyContext> {
  readonly ctx: C;
  /** Called when the call has ended, with or without an error. */
  end(): Promise<void> | void;
}

/** Wraps the contexts that a handler receives; transparent to the handler. */
export function wrapHandler(
  inner: EventHandler,
  wrap: <C extends AnyContext>(ctx: C) => WrappedContext<C>,
): EventHandler {
  async function withWrapped<C extends AnyContext, R>(
    ctx: C,
    call: (ctx: C) => R,
  ): Promise<Awaited<R>> {
    const wrapped = wrap(ctx);
    try {
      return await call(wrapped.ctx);
    } finally {
      await wrapped.end();
    }
  }
  return {
    name: inner.name,
    ...(inner.follows !== undefined && { follows: inner.follows }),
    handlesEvent: (event) => inner.handlesEvent(event),
    ...(inner.state && { state: inner.state }),
    resync: (ctx, previous) =>
      withWrapped(ctx, (wrapped) => {
        const onSuccess = (tell: Tell): void => ctx.onSuccess((later) => withWrapped(later, tell));
        return inner.resync({ ...wrapped, onSuccess }, previous);
      }),
    update: (ctx, state) =>
      withWrapped(ctx, (wrapped) => {
        const onRevert = (undo: Undo): void => ctx.onRevert((revert) => withWrapped(revert, undo));
        return inner.update({ ...wrapped, onRevert }, state);
      }),
    ...(inner.problems && { problems: () => inner.problems?.() ?? [] }),
    ...(inner.describeInternalData && {
      describeInternalData: () => inner.describeInternalData?.() ?? '',
    }),
  };
}
