/** Wiring of flows: their source, records, routes and metrics. */
import type { Registry } from 'prom-client';
import type { Flow } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { Route } from '#infra/http/route.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { FlowSource } from '#linux/socket-flows/api.ts';
import type { DenialsPort } from '#plugins/controller/api/ports/denials.ts';
import type { FlowProbePort } from '#plugins/controller/api/ports/flow-probe.ts';
import type { FlowsConfig } from './config.ts';
import { DenialSampler } from './denials/denial-sampler.ts';
import { DeniedFlows } from './denials/denied-flows.ts';
import { exportersOf } from './export/exporters.ts';
import { FlowMeter } from './flow-meter.ts';
import { FlowReader } from './flow-reader.ts';
import type { FindReason } from './flow-reason.ts';
import { FlowRing } from './flow-ring.ts';
import { FlowMetrics } from './metrics.ts';
import type { Peers } from './peers.ts';
import { ProbeReader } from './probe/probe-reader.ts';
import { openProbeSocket } from './probe/probe-socket.ts';
import { ProbedFlows } from './probe/probed-flows.ts';
import { ReasonFinder } from './reason-finder.ts';
import { Recorder, type RecorderDeps } from './recorder.ts';
import { type FlowRoutesDeps, flowRoutes } from './routes.ts';

export interface FlowsDeps {
  /** Name of this node. */
  readonly label: string;
  readonly config: FlowsConfig;
  /** undefined: none are recorded. */
  readonly source: FlowSource | undefined;
  readonly isSimulated: boolean;
  readonly peers: Peers;
  readonly findReason: FindReason;
  /** undefined: VPP is simulated. */
  readonly denials: DenialsPort | undefined;
  /** undefined: VPP is simulated. */
  readonly probe: FlowProbePort | undefined;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface WiredFlows {
  readonly components: readonly Component[];
  readonly routes: readonly Route[];
  /** All records, the oldest change first. */
  readonly flows: () => Iterable<Flow>;
  /** Why connections are not reported although they should be; undefined: they are. */
  readonly fault: () => CodedError | undefined;
}

export function wireFlows(deps: FlowsDeps): WiredFlows {
  const { label, config, source, isSimulated, peers, denials, registry, clock, log } = deps;
  const ring = new FlowRing(source ? config.flowRecords : 0);
  function* flows(): Generator<Flow, void, void> {
    for (const [, { flow }] of ring.from(0)) yield flow;
  }
  const routesOf = (recording: Pick<FlowRoutesDeps, 'reader' | 'sampler' | 'prober'>): Route[] =>
    flowRoutes({ label, ring, ...recording, clock });
  if (!source) {
    const routes = routesOf({ reader: undefined, sampler: undefined, prober: undefined });
    return { components: [], routes, flows, fault: () => undefined };
  }
  const exporters = exportersOf(config, { ring, clock, log });
  const observe: RecorderDeps['onChange'] = (flow, before) => {
    metrics.observe(flow, before);
    reasons.observe(flow, before);
  };
  const recorder = new Recorder({
    label,
    peers,
    ring,
    isSimulated,
    clock,
    onChange: observe,
  });
  const reasons = new ReasonFinder({ find: deps.findReason, recorder, clock, log });
  const isReady = () => peers.isKnown;
  const denied = new DeniedFlows({ label, peers, ring, clock, onChange: observe });
  const sampler = denials && new DenialSampler({ denials, flows: denied, isReady, clock, log });
  const probed = new ProbedFlows({
    recorder: new Recorder({
      label,
      peers,
      ring,
      isSimulated,
      seenBy: 'probe',
      clock,
      onChange: observe,
    }),
    ring,
    isDenied: (conversation) => {
      const { protocol, side, local, remote } = conversation.event(0);
      const [client, server] = side === 'client' ? [local, remote] : [remote, local];
      return denied.has(protocol, client, server);
    },
    clock,
  });
  const prober =
    deps.probe &&
    new ProbeReader({
      probe: deps.probe,
      flows: probed,
      open: openProbeSocket,
      isReady,
      clock,
      log,
    });
  const reader = new FlowReader({ source, recorder, ring, isReady, clock, log });
  const meter = new FlowMeter({ source, recorder, ring, isReady, clock, log });
  const metrics = new FlowMetrics(registry, {
    ring,
    lost: () => reader.lost + (prober?.lost ?? 0),
    displaced: () => reader.displaced,
    sampler,
    exporters,
  });
  const start = (): void => {
    // what happened before comes first
    reader.start();
    meter.start();
    sampler?.start();
    prober?.start();
    for (const one of exporters) one.start();
  };
  const close = async (): Promise<void> => {
    reader.close();
    meter.close();
    await sampler?.close();
    await prober?.close();
    await Promise.all(exporters.map((one) => one.close()));
  };
  return {
    components: [{ name: 'flows', afterInit: start, close }],
    routes: routesOf({ reader, sampler, prober }),
    flows,
    fault: () =>
      reader.fault ??
      meter.fault ??
      sampler?.fault ??
      prober?.fault ??
      exporters.find((one) => one.fault)?.fault,
  };
}
