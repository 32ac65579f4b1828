/** Replies with status 404: of an agent that does not know the object, and of one that has no such route. */
import type { TSchema } from 'typebox';
import type { DocumentOf } from '#documents/document.ts';
import type { ClusterNode, CommandContext } from '../command.ts';
import { RequestError, type RequestFailure } from './request-failure.ts';

/**
 * @returns undefined: the agent does not know the object
 * @throws RequestError, also for an agent that is too old for the path
 */
export async function askIfKnown<S extends TSchema>(
  context: CommandContext,
  node: ClusterNode,
  path: string,
  schema: S,
): Promise<DocumentOf<S> | undefined> {
  try {
    return await context.ask(node, path, schema);
  } catch (thrown) {
    if (isUnknownObject(thrown)) return undefined;
    throw explained(thrown);
  }
}

/** The same as `ask`, with a hint for a route that the agent does not have. @throws RequestError */
export async function askRoute<S extends TSchema>(
  context: CommandContext,
  node: ClusterNode,
  path: string,
  schema: S,
): Promise<DocumentOf<S>> {
  try {
    return await context.ask(node, path, schema);
  } catch (thrown) {
    throw explained(thrown);
  }
}

/** The same as `post`. @throws RequestError */
export async function postRoute<S extends TSchema>(
  context: CommandContext,
  node: ClusterNode,
  path: string,
  body: unknown,
  schema: S,
): Promise<DocumentOf<S>> {
  try {
    return await context.post(node, path, body, schema);
  } catch (thrown) {
    throw explained(thrown);
  }
}

/** undefined: the request failed, which says nothing about the node as a whole. */
export async function ifAnswered<T>(
  reply: Promise<T>,
  onFailure: (failure: RequestFailure) => void = () => undefined,
): Promise<T | undefined> {
  try {
    return await reply;
  } catch (thrown) {
    if (!(thrown instanceof RequestError)) throw thrown;
    onFailure(thrown.failure);
    return undefined;
  }
}

export function isUnknownRoute(thrown: unknown): boolean {
  if (!(thrown instanceof RequestError)) return false;
  // 405: the path exists with another method only.
  const { status, text } = thrown.failure;
  return status === 405 || (status === 404 && / no route /.test(text));
}

function isUnknownObject(thrown: unknown): boolean {
  return thrown instanceof RequestError && thrown.failure.status === 404 && !isUnknownRoute(thrown);
}

/** The error with what to do about an agent that is too old; every other one as it is. */
export function explained(thrown: unknown): unknown {
  if (!(thrown instanceof RequestError) || !isUnknownRoute(thrown)) return thrown;
  const failure = {
    ...thrown.failure,
    text: 'the agent is too old for this command',
    remedy: 'netctl nodes shows the versions. Upgrade the agent, or use a netctl of its version.',
  };
  return new RequestError(failure, { where: thrown.where ?? '', cause: thrown });
}
