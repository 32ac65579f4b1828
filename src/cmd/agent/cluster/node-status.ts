/** The status of this node, which the page shows, and which other agents ask for. */
import { NodeStatus } from '#documents/cluster.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { Slices } from '#infra/clock/slices.ts';
import { json, type Route } from '#infra/http/route.ts';
import { readinessDocument } from '#infra/status/document.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import {
  type LinkState,
  linkProblems,
  type NodeProblem,
  probeProblems,
} from '#netctl/status/node-problems.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import type { VppClient } from '#vpp/binapi/api.ts';

export interface NodeStatusDeps {
  readonly label: string;
  readonly status: StatusCheck;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  readonly net: Pick<Ipv4NetApi, 'nodeLink'>;
  readonly vpp: Pick<VppClient, 'request'>;
  readonly clock: Clock;
}

export function nodeStatusRoute(read: () => Promise<NodeStatus>): Route {
  return {
    method: 'GET',
    path: '/contiv/v1/status',
    mutating: false,
    summary: 'state of this node: releases, and each problem with what to do',
    reply: NodeStatus,
    handle: async () => json(await read()),
  };
}

export async function nodeStatus(deps: NodeStatusDeps): Promise<NodeStatus> {
  const { label, status, nodes, vpp, clock } = deps;
  const [links, release] = await Promise.all([
    linksOf(deps),
    // not connected, or it does not answer: the component vpp says why
    vpp.request('show_version', {}).then(
      ({ version }) => version,
      () => null,
    ),
  ]);
  status.readProblems();
  const { state, lastChange } = status.readiness;
  return {
    name: label,
    id: nodes.allNodes().get(label)?.id ?? null,
    state: ({ init: 'starting', ok: 'ready', error: 'not ready' } as const)[state],
    since: rfc3339(lastChange * 1000),
    now: rfc3339(clock.wallTime()),
    agent: status.build.version,
    vpp: release,
    problems: [...probeProblems(readinessDocument(status)), ...linkProblems(links)].map(
      problemDocument,
    ),
  };
}

async function linksOf({ label, nodes, net, clock }: NodeStatusDeps): Promise<LinkState[]> {
  const links: LinkState[] = [];
  await new Slices(clock).each([...nodes.allNodes().values()], (node) => {
    const whyUnreachable = node.name === label ? undefined : net.nodeLink(node)?.whyUnreachable;
    if (whyUnreachable !== undefined) links.push({ name: node.name, link: { whyUnreachable } });
  });
  return links;
}

function problemDocument({ code, since, ...rest }: NodeProblem): NodeStatus['problems'][number] {
  return {
    ...rest,
    code: code ?? null,
    since: since === undefined ? null : rfc3339(since * 1000),
  };
}
