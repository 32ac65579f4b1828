/** Wiring of the copy of the database that a node needs before VPP takes over its NIC. */
import type { KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import type { NodeConfig } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { type ContivConfig, type NodeConfigGate, stolenNic } from '#plugins/contivconf/api.ts';
import { EarlyCopy } from '#plugins/dbwatcher/early-copy.ts';
import type { NodeSyncHandler } from '#plugins/nodesync/plugin.ts';

export interface EarlyCopyWiring {
  readonly label: string;
  readonly contiv: ContivConfig;
  readonly cluster: KvStore;
  readonly mirror: KvStore;
  readonly gate: NodeConfigGate;
  readonly nodes: Pick<NodeSyncHandler, 'reserveId'>;
  readonly vppConnected: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Its start waits until VPP is connected. */
export function earlyCopy(deps: EarlyCopyWiring): Component {
  const { label, contiv, cluster, mirror, gate, nodes, vppConnected, clock, log } = deps;
  const takesOver = (nodeConfig: NodeConfig | undefined): boolean =>
    stolenNic({ file: contiv, nodeName: label, nodeConfig })[0] !== undefined;
  const hasNodeConfig = !contiv.crdNodeConfigurationDisabled;
  const ctx = { clock, log, callPort: async <T>(_: string, call: () => Promise<T> | T) => call() };
  return {
    name: 'copy of the database',
    init: async () => {
      if (!hasNodeConfig && !takesOver(undefined)) return;
      const key = resources.nodeconfig.key(label, '');
      const copy = new EarlyCopy({
        cluster,
        mirror,
        nodeName: label,
        agentPrefix: agentPrefix(label),
        nodeConfigKey: gate.key,
        isNeeded: (content) => {
          if (gate.blocks(content)) return false;
          const nodeConfig = content.kubeState[resources.nodeconfig.keyword]?.[key];
          return takesOver(hasNodeConfig ? (nodeConfig as NodeConfig | undefined) : undefined);
        },
        reserveId: (state) => nodes.reserveId(ctx, state),
        clock,
        log,
      });
      await copy.untilConnected(vppConnected());
    },
  };
}
