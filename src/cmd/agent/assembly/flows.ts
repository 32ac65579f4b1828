/** Flows: the connections of the sockets of this node, with names. */
import { Peers } from '#flows/peers.ts';
import { wireFlows } from '#flows/wire-flows.ts';
import { problemText } from '#plugins/controller/problems.ts';
import { PolicyReasons } from '../policy-reasons.ts';
import type { AgentPart, PartDeps } from './agent-part.ts';
import type { Control } from './control.ts';

export function flows(
  { settings, environment, status, registry, clock, loggers }: PartDeps,
  { plugins, controller, watchEvents }: Pick<Control, 'plugins' | 'controller' | 'watchEvents'>,
): AgentPart {
  const { label, flows: config, embedded } = settings;
  const { flowSource: source, flowFault } = environment;
  const peers = new Peers({
    label,
    kubeState: () => controller.kubeState,
    nodes: plugins.nodes,
    ipam: plugins.ipam,
    shortenOutsideAddresses: config.shortenOutsideAddresses,
  });
  watchEvents((event) => peers.observe(event));
  const reasons = new PolicyReasons({
    policies: plugins.policies,
    kubeState: () => controller.kubeState,
    eventCount: () => controller.eventCount,
    clock,
  });
  const wired = wireFlows({
    label,
    config,
    source,
    isSimulated: embedded !== undefined,
    peers,
    findReason: (flow) => reasons.find(flow),
    registry,
    clock,
    log: loggers.get('flows'),
  });
  if (source || flowFault !== undefined)
    status.registerProblem('flows', 'none', () => {
      const fault = wired.fault();
      return flowFault ?? (fault && problemText(fault));
    });
  return wired;
}
