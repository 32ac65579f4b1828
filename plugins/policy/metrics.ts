import { Gauge, type Registry } from 'prom-client';
import type { PolicyApi } from './api.ts';

/** Metrics of network policies. */
export class PolicyMetrics {
  constructor(registry: Registry, policies: Pick<PolicyApi, 'notAsDefined'>) {
    new Gauge({
      name: 'contiv_policy_problems',
      help: 'Network policies that are not carried as defined, because they cannot be read or VPP cannot do it; they permit less.',
      registers: [registry],
      collect() {
        this.set(policies.notAsDefined().length);
      },
    });
  }
}
