import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { serviceInputs } from '#plugins/service/api.ts';
import { policyInputs } from '../processor/policy-processor.ts';

/** The resources that decide about connectivity and services, as they are now: work in slices must not see later changes. */
export function copiedInputs(kube: KubeState): KubeState {
  return new Map(
    [...policyInputs, ...serviceInputs].map((keyword) => [
      keyword,
      new Map(kube.get(keyword) ?? []),
    ]),
  );
}
