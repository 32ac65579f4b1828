/** `GET /contiv/v1/nodes/:name/probe`: whether packets to another node arrive and return, for `netctl check`. */
import { isIP } from 'node:net';
import { NodeProbe, type PathProbe } from '#documents/node-probe.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { BusyError, json, NotFoundError, type Route } from '#infra/http/route.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import { addressText, parsePrefix } from '#plugins/ipam/prefix.ts';
import { podGateway } from '#plugins/ipam/subnets.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import { POD_GATEWAY_LOOPBACK } from '#plugins/ipv4net/names.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import { type PingResult, type PingTarget, ping } from './ping.ts';
import { VppCliSocketError } from './vpp-cli-socket.ts';

export interface NodeProbeDeps {
  readonly label: string;
  readonly conf: Pick<ContivConfApi, 'routing'>;
  readonly ipam: Pick<IpamApi, 'podSubnetOtherNode'>;
  readonly net: Pick<Ipv4NetApi, 'nodeLink'>;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  /** VPP's name of an interface by its logical name; undefined: it is not configured. */
  readonly vppNameOf: (name: string) => Promise<string | undefined>;
  /** CLI socket of VPP; undefined: VPP is simulated. */
  readonly cliSocket: string | undefined;
  readonly clock: Clock;
}

export function nodeProbeRoutes(deps: NodeProbeDeps): Route[] {
  let isBusy = false;
  return [
    {
      method: 'GET',
      path: '/contiv/v1/nodes/:name/probe',
      mutating: false,
      summary:
        'five packets of VPP to another node, in and beside the tunnel: loss and round-trip times',
      reply: NodeProbe,
      handle: async ({ params }) => {
        // Clients of the port must not make VPP send many packets.
        if (isBusy) throw new BusyError('another node is being probed');
        isBusy = true;
        try {
          return json(await probe(deps, params['name'] ?? ''));
        } finally {
          isBusy = false;
        }
      },
    },
  ];
}

async function probe(deps: NodeProbeDeps, name: string): Promise<NodeProbe> {
  const { label, nodes, net, ipam, conf, vppNameOf } = deps;
  const node = nodes.allNodes().get(name);
  if (node === undefined) throw new NotFoundError(`no node with an ID has the name ${name}`);
  if (name === label) throw new NotFoundError(`${name} is this node: probe another one`);
  const link = net.nodeLink(node);
  // Its records are those of another node: only an address may become part of a command.
  if (link?.address === undefined || isIP(link.address) === 0) {
    const whyUnreachable = link?.whyUnreachable ?? 'this node is not configured yet';
    return { node: name, whyUnreachable, paths: [] };
  }
  const { mainVrf, podVrf } = conf.routing();
  const paths = [await pathProbe(deps, 'underlay', { address: link.address, table: mainVrf })];
  if (link.tunnel !== undefined || link.encryptedBy.length > 0) {
    // As packets of pods: the addresses of the tunnels themselves have no routes.
    const address = gatewayOf(ipam.podSubnetOtherNode(node.id));
    const source = await vppNameOf(POD_GATEWAY_LOOPBACK);
    paths.push(await pathProbe(deps, 'overlay', { address, table: podVrf, source }));
  }
  return { node: name, whyUnreachable: null, paths };
}

/** Each VPP has the gateway of its pods. */
function gatewayOf(podSubnet: string): string {
  const prefix = parsePrefix(podSubnet, 'podCIDR');
  return addressText(prefix.family, podGateway(prefix));
}

async function pathProbe(
  { cliSocket, clock }: NodeProbeDeps,
  path: PathProbe['path'],
  target: PingTarget,
): Promise<PathProbe> {
  return { path, address: target.address, ...(await pinged(cliSocket, target, clock)) };
}

async function pinged(
  socket: string | undefined,
  target: PingTarget,
  clock: Clock,
): Promise<PingResult> {
  const nothing = { sent: 0, received: 0, rttMs: null };
  if (socket === undefined) return { ...nothing, problem: 'VPP is simulated: it sends no packets' };
  try {
    return await ping(socket, target, clock);
  } catch (thrown) {
    if (!(thrown instanceof VppCliSocketError)) throw thrown;
    return { ...nothing, problem: `${thrown.message} [${thrown.code}]: ${thrown.remedy}` };
  }
}
