/** Arguments of `contiv-agent connectivity`. */
import type { AskedPort } from '#plugins/policy/connectivity/explanation.ts';

export const connectivityOutputs = ['text', 'json', 'dot'] as const;

export type ConnectivityOutput = (typeof connectivityOutputs)[number];

export interface ConnectivityRequest {
  /** Folder of manifests. */
  readonly manifests: string;
  /** Folder of the manifests after a change; undefined: no change. */
  readonly compare: string | undefined;
  readonly output: ConnectivityOutput;
  /** undefined: all pairs. */
  readonly pair: ConnectivityPair | undefined;
}

export interface ConnectivityPair {
  /** A pod or a workload as `<namespace>/<name>`, or an address. */
  readonly from: string;
  readonly to: string;
  readonly port: AskedPort | undefined;
}
