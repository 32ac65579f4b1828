/** REST of the interfaces of this node: their counters, and whose they are. */
import { InterfaceList, type InterfaceRole, roleKinds } from '#documents/interfaces.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { Slices } from '#infra/clock/slices.ts';
import { limitArgument, searchArgument } from '#infra/http/list-arguments.ts';
import {
  argument,
  BadRequestError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import type { InterfaceSample, InterfaceSamples } from './api.ts';
import { countersDocument } from './interface-counters.ts';
import { interfaceRole, type RolesOfInterfaces } from './interface-role.ts';

export interface InterfaceRoutesDeps {
  readonly net: RolesOfInterfaces;
  /** Collects at most once a second. */
  readonly samples: () => Promise<InterfaceSamples>;
  readonly clock: Clock;
}

/** A page shows the rates of all pods of a node, of which a large one has some hundreds. */
const LARGEST_LIMIT = 1_000;

export function interfaceRoutes(deps: InterfaceRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/contiv/v1/interfaces',
      mutating: false,
      summary: 'counters of the interfaces of VPP by owner, read at most once a second',
      query: {
        owner: { description: 'only interfaces of this kind', choices: roleKinds },
        pod: { description: 'only interfaces of this pod, namespace/name' },
        search: {
          description: 'only interfaces with this text in their names, pod or node',
        },
        limit: { description: 'number of interfaces; default: 200, largest: 1000' },
      },
      reply: InterfaceList,
      handle: (request) => interfaceList(deps, request),
    },
  ];
}

async function interfaceList(
  deps: InterfaceRoutesDeps,
  request: RouteRequest,
): Promise<RouteResponse> {
  const { net, clock } = deps;
  const kind = kindArgument(argument(request, 'owner'));
  const pod = argument(request, 'pod');
  const limit = limitArgument(request, 'limit', LARGEST_LIMIT);
  const isFound = searchArgument(request, 'search');
  const { collectedAt, error, interfaces } = await deps.samples();
  const matching: { readonly sample: InterfaceSample; readonly owner: InterfaceRole }[] = [];
  await new Slices(clock).each(interfaces, (sample) => {
    const owner = interfaceRole(sample.interfaceName, net);
    if (kind !== undefined && owner.kind !== kind) return;
    if (pod !== undefined && owner.pod !== pod) return;
    const { interfaceName, counters } = sample;
    const texts = [interfaceName, counters.internalName, owner.pod ?? '', owner.node ?? ''];
    if (isFound(texts)) matching.push({ sample, owner });
  });
  const list: InterfaceList = {
    collectedAt: collectedAt === undefined ? null : rfc3339(collectedAt),
    error: error ?? null,
    matching: matching.length,
    interfaces: matching.slice(0, limit).map(({ sample, owner }) => ({
      name: sample.interfaceName,
      vppName: sample.counters.internalName,
      swIfIndex: sample.counters.swIfIndex,
      owner,
      counters: countersDocument(sample.counters),
    })),
  };
  return streamedJson(list, clock);
}

function kindArgument(text: string | undefined): (typeof roleKinds)[number] | undefined {
  const kind = roleKinds.find((one) => one === text);
  if (text !== undefined && kind === undefined)
    throw new BadRequestError(`argument owner="${text}" must be one of ${roleKinds.join(', ')}`);
  return kind;
}
