/** Wiring of the NodeConfig: the wait for the first one, its status, and the publication of the decision. */
import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { ContivConfApi } from './api.ts';
import type { ContivConfig } from './config.ts';
import { NodeConfigGate } from './node-config-gate.ts';
import { statusOf, waitingStatus } from './node-config-status.ts';
import { type Decision, StatusPublisher } from './status-publisher.ts';

export interface NodeConfigWiringDeps {
  readonly nodeName: string;
  readonly config: Pick<ContivConfig, 'crdNodeConfigurationDisabled'>;
  readonly local: KvStore;
  readonly cluster: KvStore;
  readonly conf: () => Pick<
    ContivConfApi,
    'mainInterface' | 'otherInterfaces' | 'nodeConfigVerdict'
  >;
  /** Whether the configuration of the node is in VPP. */
  readonly isConfigured: () => boolean;
  /** Errors of the values of an interface. */
  readonly interfaceFaults: (name: string) => readonly string[];
  readonly problemText: (error: CodedError) => string;
  readonly status: StatusCheck;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface WiredNodeConfig {
  readonly gate: NodeConfigGate;
  /** Before the components that need to know whether the node waits. */
  readonly gateComponent: Component;
  readonly publisherComponent: Component;
}

export function wireNodeConfig(deps: NodeConfigWiringDeps): WiredNodeConfig {
  const { nodeName, config, local: store, status, problemText, log } = deps;
  const gate = new NodeConfigGate({ nodeName, config, store, log });
  if (!config.crdNodeConfigurationDisabled)
    status.registerProblem('node-config', 'readiness', () => {
      const { missing } = gate;
      return missing && problemText(missing);
    });
  const publisher = new StatusPublisher({ ...deps, read: () => decision(deps, gate) });
  return {
    gate,
    gateComponent: { name: 'node-config', init: () => gate.init() },
    publisherComponent: publisher.component,
  };
}

function decision(
  { nodeName, conf, isConfigured, interfaceFaults }: NodeConfigWiringDeps,
  gate: NodeConfigGate,
): Decision | null | undefined {
  if (gate.missing) return gate.isConfirmed ? waitingStatus(nodeName) : undefined;
  if (!isConfigured()) return undefined;
  const { nodeConfigVerdict, mainInterface, otherInterfaces } = conf();
  const verdict = nodeConfigVerdict();
  if (!verdict) return null;
  const names = [mainInterface().name ?? [], otherInterfaces().map(({ name }) => name)].flat(2);
  return statusOf(nodeName, verdict, names.flatMap(interfaceFaults));
}
