/** Flows: the connections of the sockets of this node, with names. */
import { Peers } from '#flows/peers.ts';
import { wireFlows } from '#flows/wire-flows.ts';
import { problemText } from '#plugins/controller/problems.ts';
import { hostLinkOwner } from '#plugins/ipam/api.ts';
import { VppDenials } from '#vpp/packets/denials.ts';
import { flowPolicyRoutes } from '../flow-policies/routes.ts';
import { flowReasons } from '../flow-reasons/flow-reasons.ts';
import { PolicyReasons } from '../flow-reasons/policy-reasons.ts';
import { ServerReasons } from '../flow-reasons/server-reasons.ts';
import { TracedReasons } from '../flow-reasons/traced-reasons.ts';
import { nodeSnapshot } from '../node-snapshot.ts';
import { reflectedObject } from '../reflected-object.ts';
import type { AgentPart, PartDeps } from './agent-part.ts';
import type { Control } from './control.ts';
import { flowProbePort } from './flow-probe-port.ts';
import type { Scheduling } from './scheduling.ts';
import type { Southbound } from './southbound.ts';
import { tracedNode } from './traced-node.ts';

export function flows(
  deps: PartDeps,
  south: Southbound,
  schedule: Scheduling,
  loop: Control,
): AgentPart {
  const { settings, environment, status, registry, clock, loggers } = deps;
  const { plugins, controller, watchEvents } = loop;
  const { label, flows: config, embedded } = settings;
  const { flowSource: source, flowFault } = environment;
  const isSimulated = environment.vppCliSocket === undefined;
  const kubeState = () => controller.kubeState;
  const peers = new Peers({
    label,
    kubeState,
    nodes: plugins.nodes,
    ipam: plugins.ipam,
    hostLinkOwner: () => hostLinkOwner(plugins.conf.ipam()),
    shortenOutsideAddresses: config.shortenOutsideAddresses,
  });
  watchEvents((event) => peers.observe(event));
  const traced = tracedNode(deps, south, schedule, loop);
  const findReason = flowReasons({
    policies: new PolicyReasons({
      policies: plugins.policies,
      kubeState,
      eventCount: () => controller.eventCount,
      clock,
    }),
    servers: new ServerReasons({
      services: plugins.services,
      nodes: plugins.nodes,
      addresses: () => plugins.conf.ipam(),
      kubeState,
    }),
    traces: new TracedReasons({ readSnapshot: () => nodeSnapshot(traced, 'SB'), clock }),
  });
  const wired = wireFlows({
    label,
    config,
    source,
    isSimulated: embedded !== undefined,
    peers,
    findReason,
    denials: isSimulated
      ? undefined
      : new VppDenials({ statistics: south.vpp.statistics, pcapTrace: south.vpp.pcapTrace }),
    probe: isSimulated ? undefined : flowProbePort(schedule.scheduler),
    registry,
    clock,
    log: loggers.get('flows'),
  });
  if (source || flowFault !== undefined)
    status.registerProblem('flows', 'none', () => {
      const fault = wired.fault();
      return flowFault ?? (fault && problemText(fault)) ?? plugins.flowProbe.problem();
    });
  return {
    components: wired.components,
    routes: [
      ...wired.routes,
      ...flowPolicyRoutes({
        label,
        policies: plugins.policies,
        kubeState,
        flows: wired.flows,
        reflectObject: reflectedObject,
        serviceSubnet: () => plugins.conf.ipam().serviceCidr,
        clock,
      }),
    ],
  };
}
