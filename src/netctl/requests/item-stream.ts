/** Documents of nodes that are read piece by piece. */
import type { ClusterNode, CommandContext } from '../command.ts';
import type { JsonItem } from '../json-items.ts';
import { failure, NOT_OF_AGENT } from './failure-reason.ts';
import { RequestError } from './request-failure.ts';

/**
 * The objects in the lists of a document, while it arrives.
 * @param field that the document of an agent has; undefined: it is a list
 * @throws RequestError
 */
export async function* askItems(
  context: CommandContext,
  node: ClusterNode,
  path: string,
  field?: string,
): AsyncGenerator<JsonItem, void, void> {
  const { jsonItems } = await import('../json-items.ts');
  try {
    const { isList, texts } = yield* jsonItems(context.download(node, path));
    if (field === undefined ? isList : texts.has(field)) return;
    throw new RequestError(failure('invalid-reply', NOT_OF_AGENT), { where: node.name });
  } catch (thrown) {
    throw thrown instanceof SyntaxError ? notJson(node, thrown) : thrown;
  }
}

/** @throws RequestError */
export function parseReply(node: ClusterNode, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(node, cause);
  }
}

function notJson({ name }: ClusterNode, cause: unknown): RequestError {
  const why = failure('invalid-reply', 'the reply is not JSON, or it is not complete');
  return new RequestError(why, { where: name, cause });
}
