import { type handleUnaryCall, status } from '@grpc/grpc-js';
import { errorText, traitsOf } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { messageCodec, type ServiceMethod } from '#models/message.ts';
import type { DeepInput } from '#models/model.ts';

/** A call that is answered with an error status. */
export class CallError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

export type UnaryAnswer<Request extends object, Response extends object> = (
  request: Request,
) => DeepInput<Response> | Promise<DeepInput<Response>>;

/** Answers what the function returns, or the error that it throws. */
export function unaryHandler<Request extends object, Response extends object>(
  { path, response }: ServiceMethod<Request, Response>,
  answer: UnaryAnswer<Request, Response>,
  log: Logger,
): handleUnaryCall<Request, Response> {
  const codec = messageCodec(response);
  const answered = async (request: Request) => codec.canonical(await answer(request));
  return ({ request }, callback) => {
    answered(request).then(
      (found) => callback(null, found),
      (thrown: unknown) => {
        if (thrown instanceof CallError) {
          callback({ code: thrown.code, details: thrown.message });
          return;
        }
        const isRetriable = traitsOf(thrown).isRetriable === true;
        if (isRetriable) log.warn({ err: thrown, path }, 'gRPC call failed; the client may retry');
        else log.error({ err: thrown, path }, 'gRPC call failed with an unexpected error');
        const code = isRetriable ? status.UNAVAILABLE : status.INTERNAL;
        callback({ code, details: errorText(thrown) });
      },
    );
  };
}
