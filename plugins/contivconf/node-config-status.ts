/** The decision of the node about its NodeConfig, as operators see it. */
import {
  type NodeConfigStatus,
  nodeConfigDigest,
  nodeConfigStatusModel,
  specPath,
} from '#kubernetes/models/node-config-status.ts';
import type { NodeConfigVerdict } from './verdict.ts';

/** The status of a node that waits for its NodeConfig. */
export function waitingStatus(nodeName: string): NodeConfigStatus {
  return nodeConfigStatusModel.canonical({
    node_name: nodeName,
    state: 'Waiting',
    message: 'the node waits for its NodeConfig',
  });
}

/** @param failures values of the node's interfaces that VPP or Linux has rejected */
export function statusOf(
  nodeName: string,
  { nodeConfig, decision, refused }: NodeConfigVerdict,
  failures: readonly string[],
): NodeConfigStatus {
  const fields = refused.map(({ field, reason }) => ({ field: specPath(field), reason }));
  const faults = fields.map(({ field, reason }) => `${field}: ${reason}`);
  const status = (state: string, message: string): NodeConfigStatus =>
    nodeConfigStatusModel.canonical({
      node_name: nodeName,
      state,
      node_config: nodeConfigDigest(nodeConfig),
      message,
      refused_fields: fields,
    });
  switch (decision) {
    case 'refused':
      return status('Refused', `${faults.join('; ')}; the node keeps its last valid configuration`);
    case 'partly applied':
      return status('PartlyApplied', `${faults.join('; ')}; the other fields are in use`);
    case 'ignored':
      return status('Ignored', 'contiv.conf of the node has crdNodeConfigurationDisabled: true');
    case 'applied':
      return failures.length === 0
        ? status('Applied', '')
        : status('Failed', `not configured: ${failures.join('; ')}`);
  }
}
