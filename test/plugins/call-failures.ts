/** Lets chosen calls of the ports and of the handlers fail. */
import { defineError } from '#infra/errors/errors.ts';
import { AbortEventError, FatalError } from '#plugins/controller/api/errors.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';

export type PortName = 'local' | 'cluster' | 'host' | 'vpp';

export interface PortFailure {
  readonly port: PortName;
  /** Calls before the one that fails. */
  readonly after: number;
  /** The calls after it fail, too. */
  readonly lasts: boolean;
  /** The call is carried out, and only its reply is lost. */
  readonly isDone: boolean;
  readonly error: Error;
}

type Method = (...args: unknown[]) => unknown;

/** The ports of a node: the call that a failure names rejects. */
export class CallFailures {
  /** Undefined: no call fails. */
  failure: PortFailure | undefined;
  #calls = 0;

  begin(failure: PortFailure): void {
    this.failure = failure;
    this.#calls = 0;
  }

  end(): void {
    this.failure = undefined;
  }

  around<T extends object>(port: PortName, target: T): T {
    return new Proxy(target, {
      get: (_, property) => {
        const member: unknown = Reflect.get(target, property);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) =>
          this.#call(port, () => (member as Method).apply(target, args));
      },
      set: (_, property, value) => Reflect.set(target, property, value),
    });
  }

  async #call(port: PortName, call: () => unknown): Promise<unknown> {
    const { failure } = this;
    const isHit = failure?.port === port && isCallOf(failure, this.#calls++);
    if (!isHit) return call();
    if (failure.isDone) await call();
    throw failure.error;
  }
}

function isCallOf({ after, lasts }: PortFailure, call: number): boolean {
  return lasts ? call >= after : call === after;
}

/** A coded error, as handlers throw them for an input that they refuse. */
const RefusedInputError = defineError({
  name: 'RefusedInputError',
  code: 'CV_TEST_REFUSED_INPUT',
  rejects: 'configuration',
  remedy: '',
});

export const handlerErrors = {
  defect: () => new TypeError('a defect'),
  refusal: () => new RefusedInputError('refused'),
  abort: () => new AbortEventError('aborted'),
  fatal: () => new FatalError('fatal'),
} as const;

export interface HandlerFailure {
  /** Position of the handler. */
  readonly handler: number;
  /** `call`: a resync or an update. */
  readonly at: 'handlesEvent' | 'before the call' | 'after the call';
  readonly error: keyof typeof handlerErrors;
}

/** @returns ends the failure */
export function failHandler(
  handlers: readonly EventHandler[],
  { handler: position, at, error }: HandlerFailure,
): () => void {
  const handler = handlers[position % handlers.length]!;
  const { handlesEvent, resync, update } = handler;
  const fail = (): never => {
    throw handlerErrors[error]();
  };
  if (at === 'handlesEvent') handler.handlesEvent = fail;
  else {
    const failing =
      <A extends unknown[], R>(call: (...args: A) => R) =>
      async (...args: A): Promise<Awaited<R>> => {
        if (at === 'after the call') await call.apply(handler, args);
        return fail();
      };
    handler.resync = failing(resync);
    handler.update = failing(update);
  }
  return () => Object.assign(handler, { handlesEvent, resync, update });
}
