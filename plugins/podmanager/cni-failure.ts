/** The reply to a CNI request that failed. */
import { errorText, traitsOf } from '#infra/errors/errors.ts';
import { CNIReply } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import { CniRequestError, HostNamespaceError } from './cni-request.ts';

/** `result` of a reply: the codes of the CNI specification where it has one. */
export const cniResults = { success: 0, failed: 1, invalidRequest: 4, tryAgainLater: 11 } as const;

const codec = messageCodec(CNIReply);

export function failureReply(error: unknown): CNIReply {
  return codec.canonical({ result: resultOf(error), error: errorText(error) });
}

function resultOf(error: unknown): number {
  const all = [...withCauses(error)];
  const traits = all.map(traitsOf);
  if (traits.some(({ isRetriable, unavailable }) => isRetriable || unavailable === 'southbound'))
    return cniResults.tryAgainLater;
  const isInvalid =
    all.some((one) => one instanceof CniRequestError || one instanceof HostNamespaceError) ||
    // the path of the namespace leads nowhere
    traits.some(({ unavailable }) => unavailable === 'environment');
  return isInvalid ? cniResults.invalidRequest : cniResults.failed;
}

/** The error, the errors that it combines, and their causes. */
function* withCauses(error: unknown): Generator<unknown, void, void> {
  yield error;
  if (error instanceof AggregateError) for (const one of error.errors) yield* withCauses(one);
  if (error instanceof Error && error.cause !== undefined) yield* withCauses(error.cause);
}
