/** `GET /contiv/v1/search`: pods, services, policies, nodes and events by words. Values have a search of their own. */
import { type FoundOfKind, SearchResults } from '#documents/search.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { limitArgument } from '#infra/http/list-arguments.ts';
import { argument, BadRequestError, json, type Route } from '#infra/http/route.ts';
import { type SearchedObjectsDeps, searchedObjects } from './searched-objects.ts';

export interface SearchDeps extends SearchedObjectsDeps {
  readonly clock: Clock;
}

const MAX_FOUND = 50;

export function searchRoute(deps: SearchDeps): Route {
  return {
    method: 'GET',
    path: '/contiv/v1/search',
    mutating: false,
    summary: 'pods, services and policies of the cluster, nodes, and events of this node by words',
    query: {
      for: {
        description: 'words that are all in the name or addresses of an object',
        isRequired: true,
      },
      limit: { description: 'number of objects of each kind; default and largest: 50' },
    },
    reply: SearchResults,
    handle: async (request) => {
      const limit = limitArgument(request, 'limit', MAX_FOUND);
      const text = (argument(request, 'for') ?? '').trim().toLowerCase();
      if (text === '') throw new BadRequestError('argument for has no word to search for');
      const results: SearchResults = { groups: await search(deps, text.split(/\s+/), limit) };
      return json(results);
    },
  };
}

async function search(
  deps: SearchDeps,
  words: readonly string[],
  limit: number,
): Promise<readonly FoundOfKind[]> {
  const slices = new Slices(deps.clock);
  const groups: FoundOfKind[] = [];
  for (const { kind, objects } of searchedObjects(deps)) {
    const found: FoundOfKind['found'][number][] = [];
    let matching = 0;
    for (const object of objects) {
      if (slices.due()) await slices.turn();
      const text = `${object.name} ${object.details}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
      matching++;
      if (found.length < limit) found.push(object);
    }
    groups.push({ kind, matching, found });
  }
  return groups;
}
