import type { StatusCheck } from '#infra/status/status.ts';
import type { Plugins } from '../plugins.ts';

/** Nodes in a text of the status, which is short. */
const NAMED = 5;

/** Objects that the node does not carry as defined: the status names them, and nothing fails. */
export function registerFeatureProblems(
  status: StatusCheck,
  { ipv4net, services, policies }: Pick<Plugins, 'ipv4net' | 'services' | 'policies'>,
): void {
  status.registerProblem('unsupported-features', 'none', () => {
    const features = ipv4net.unsupportedFeatures();
    return features.length === 0 ? undefined : `without effect: ${features.join('; ')}`;
  });
  status.registerProblem('nodes', 'none', () => {
    const problems = ipv4net.nodeProblems();
    const names = [...problems.nodes()].sort();
    if (names.length === 0) return undefined;
    const texts = names.slice(0, NAMED).flatMap((name) => problems.of(name).slice(0, 1));
    const more = names.length > NAMED ? [`${names.length - NAMED} more nodes`] : [];
    return `${[...texts, ...more].join('; ')} (GET /contiv/v1/nodes?show=problems)`;
  });
  status.registerProblem('services', 'none', () => {
    const problems = [...services.serviceProblems().keys()];
    return problems.length === 0
      ? undefined
      : `not carried as defined: ${problems.length} ${problems.length === 1 ? 'service' : 'services'} (GET /contiv/v1/services)`;
  });
  status.registerProblem('policies', 'none', () => {
    const { size } = new Set([...policies.policyProblems().keys(), ...policies.limits().keys()]);
    return size === 0
      ? undefined
      : `not carried as defined: ${size} ${size === 1 ? 'policy' : 'policies'} (GET /contiv/v1/policy/pods)`;
  });
}
