/** Arguments of documents that are lists: how many entries, and which. */
import { argument, BadRequestError, integerArgument, type RouteRequest } from './route.ts';

/** Entries of a list, unless its route permits more. */
export const LIST_LIMIT = 200;

/**
 * @param largest value that is accepted
 * @throws BadRequestError
 */
export function limitArgument(request: RouteRequest, name: string, largest = LIST_LIMIT): number {
  const limit = integerArgument(request, name) ?? Math.min(LIST_LIMIT, largest);
  if (limit < 1 || limit > largest)
    throw new BadRequestError(`argument ${name}="${limit}" must be between 1 and ${largest}`);
  return limit;
}

/** Whether one of the texts of an entry contains the argument, in upper or lower case. */
export function searchArgument(
  request: RouteRequest,
  name: string,
): (texts: Iterable<string>) => boolean {
  const wanted = (argument(request, name) ?? '').trim().toLowerCase();
  if (wanted === '') return () => true;
  return (texts) => {
    for (const text of texts) if (text.toLowerCase().includes(wanted)) return true;
    return false;
  };
}
