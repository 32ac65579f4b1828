/** The suite `measures`: times that people who run Kubernetes compare. */
import { measureEndpointChanges } from './endpoint-changes.ts';
import { KubeApi } from './kube-api.ts';
import { measurePodStart } from './pod-start.ts';
import { measurePolicyChanges } from './policy-changes.ts';
import type { Suite } from './suite.ts';

export const measureSuite: Suite = {
  title: 'Measures',
  notRun: [],
  run: async () => {
    const api = await KubeApi.connect();
    try {
      const runs = [
        await measurePodStart(api),
        await measurePolicyChanges(api),
        await measureEndpointChanges(api),
      ];
      return {
        cases: runs.flatMap(({ cases }) => cases),
        measures: runs.flatMap(({ measures = [] }) => measures),
      };
    } finally {
      await api.close();
    }
  },
};
