/** Decision of the node about its NodeConfig. */
import type { NodeConfig } from '#kubernetes/models/node-config.ts';

/** A field of a NodeConfig that the node does not use. */
export interface RefusedField {
  /** Path in the record, for example `main_vpp_interface.ip`. */
  readonly field: string;
  readonly reason: string;
}

export interface NodeConfigVerdict {
  readonly nodeConfig: NodeConfig;
  /**
   * - `applied`: it is the configuration of the node.
   * - `refused`: the node keeps its last valid configuration.
   * - `partly applied`: the node had no valid one, so it uses this one without the refused fields.
   * - `ignored`: contiv.conf disables NodeConfigs.
   */
  readonly decision: 'applied' | 'refused' | 'partly applied' | 'ignored';
  readonly refused: readonly RefusedField[];
}
