import type { StatusCheck } from '#infra/status/status.ts';
import type { Plugins } from '../plugins.ts';
import { someOf } from './some-of.ts';

/** Objects that the node does not carry as defined: the status names them, and nothing fails. */
export function registerFeatureProblems(
  status: StatusCheck,
  { ipv4net, services, policies }: Pick<Plugins, 'ipv4net' | 'services' | 'policies'>,
): void {
  status.registerProblem('unsupported-features', 'none', () => {
    const features = ipv4net.unsupportedFeatures();
    return features.length === 0 ? undefined : `without effect: ${features.join('; ')}`;
  });
  status.registerProblem('bandwidth', 'none', () => {
    const problems = ipv4net.bandwidthProblems();
    return problems.length === 0 ? undefined : `${someOf(problems)} (GET /contiv/v1/pods)`;
  });
  status.registerProblem('nodes', 'none', () => {
    const problems = ipv4net.nodeProblems();
    const names = [...problems.nodes()].sort();
    if (names.length === 0) return undefined;
    const texts = names.flatMap((name) => problems.of(name).slice(0, 1));
    return `${someOf(texts)} (GET /contiv/v1/nodes?show=problems)`;
  });
  status.registerProblem('services', 'none', () => {
    const none = services.whyNoneIsCarried();
    if (none !== undefined) return `none is served: ${none}`;
    const names = [...services.serviceProblems().keys()].sort();
    const pods = services.podsWithoutServices();
    const texts = [
      ...(names.length === 0
        ? []
        : [`not served as defined: ${someOf(names)} (GET /contiv/v1/services)`]),
      ...(pods.length === 0
        ? []
        : [`pods that reach no service: ${someOf(pods)} (GET /contiv/v1/pods)`]),
    ];
    return texts.length === 0 ? undefined : texts.join('; ');
  });
  status.registerProblem('policies', 'none', () => {
    const names = policies.notAsDefined();
    return names.length === 0
      ? undefined
      : `permit less than defined: ${someOf(names)} (GET /contiv/v1/policy/pods)`;
  });
}
