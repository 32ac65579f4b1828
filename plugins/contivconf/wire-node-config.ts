/** Wiring of the NodeConfig: the wait for the first one, its status, and the publication of the decision. */
import type { KvStore } from '#datastore/api.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { ContivConfApi } from './api.ts';
import type { ContivConfig } from './config.ts';
import { NodeConfigGate } from './node-config-gate.ts';
import { statusOf, waitingStatus } from './node-config-status.ts';
import { type Decision, StatusPublisher, type StatusPublisherDeps } from './status-publisher.ts';

export interface GateWiringDeps {
  readonly nodeName: string;
  readonly config: Pick<ContivConfig, 'crdNodeConfigurationDisabled'>;
  /** The store of this node. */
  readonly store: KvStore;
  readonly problemText: (error: CodedError) => string;
  readonly status: StatusCheck;
  readonly log: Logger;
}

export interface WiredGate {
  readonly gate: NodeConfigGate;
  /** Before the components that need to know whether the node waits. */
  readonly component: Component;
}

export function wireNodeConfigGate(deps: GateWiringDeps): WiredGate {
  const { nodeName, config, store, status, problemText, log } = deps;
  const gate = new NodeConfigGate({ nodeName, config, store, log });
  if (!config.crdNodeConfigurationDisabled)
    status.registerProblem('node-config', 'readiness', () => {
      const { missing } = gate;
      return missing && problemText(missing);
    });
  return { gate, component: { name: 'node-config', init: () => gate.init() } };
}

export interface NodeConfigStatusWiringDeps extends Omit<StatusPublisherDeps, 'read'> {
  readonly gate: Pick<NodeConfigGate, 'missing' | 'isConfirmed'>;
  readonly conf: Pick<ContivConfApi, 'mainInterface' | 'otherInterfaces' | 'nodeConfigVerdict'>;
  /** Whether the configuration of the node is in VPP. */
  readonly isConfigured: () => boolean;
  /** Errors of the values of an interface. */
  readonly interfaceFaults: (name: string) => readonly string[];
}

/** Publishes the decision of the node. */
export function wireNodeConfigStatus(deps: NodeConfigStatusWiringDeps): Component {
  return new StatusPublisher({ ...deps, read: () => decision(deps) }).component;
}

function decision(deps: NodeConfigStatusWiringDeps): Decision | null | undefined {
  const { nodeName, gate, conf, isConfigured, interfaceFaults } = deps;
  if (gate.missing) return gate.isConfirmed ? waitingStatus(nodeName) : undefined;
  if (!isConfigured()) return undefined;
  const verdict = conf.nodeConfigVerdict();
  if (!verdict) return null;
  const names = [
    conf.mainInterface().name ?? [],
    conf.otherInterfaces().map(({ name }) => name),
  ].flat(2);
  return statusOf(nodeName, verdict, names.flatMap(interfaceFaults));
}
