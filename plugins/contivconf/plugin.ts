/** Event handler that resolves the configuration of this node from all its sources. */

import type { KvStore } from '#datastore/api.ts';
import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { NodeConfig } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { AbortEventError, causedError } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  KubeState,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { StnPort } from '#plugins/controller/api/ports/stn.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import { type ContivConfApi, NodeConfigChange } from './api.ts';
import type { ContivConfig } from './config.ts';
import { dpdkNics } from './dpdk-nics.ts';
import {
  interfaceConfig,
  ipamConfig,
  neighborScanConfig,
  routingConfig,
  wireguardConfig,
} from './global-settings.ts';
import { Evaluator, type NicAndConfig } from './node-evaluation.ts';
import { type NodeSettings, stolenNic } from './node-settings.ts';
import { type ValidNodeConfig, ValidNodeConfigRecord } from './valid-node-config.ts';
import type { NodeConfigVerdict } from './verdict.ts';

export interface ContivConfDeps {
  readonly nodeName: string;
  /** Without problems of level `error`. */
  readonly config: ContivConfig;
  readonly vpp: VppPort;
  readonly stn: StnPort;
  readonly host: Pick<HostPort, 'links'>;
  /** Local store of this node; persists across restarts of the agent. */
  readonly store: KvStore;
}

interface State extends NicAndConfig {
  readonly settings: NodeSettings;
  readonly problems: readonly CodedError[];
  /** An update may change it, and `lastValid`. */
  verdict: NodeConfigVerdict | undefined;
  lastValid: ValidNodeConfig | undefined;
}

export function createContivConf(deps: ContivConfDeps): EventHandler & ContivConfApi {
  const { config, nodeName } = deps;
  const key = resources.nodeconfig.key(nodeName, '');
  const interfaces = deepFreeze(interfaceConfig(config));
  const routing = deepFreeze(routingConfig(config));
  const wireguard = deepFreeze(wireguardConfig(config));
  const ipam = deepFreeze(ipamConfig(config));
  const neighborScan = deepFreeze(neighborScanConfig(config));

  const state = new HandlerState<State>('contivconf');
  /** A fact, which an aborted resync has learned, too. Undefined: not read yet. */
  let nics: readonly string[] | undefined;
  const record = new ValidNodeConfigRecord(deps.store);
  const evaluator = new Evaluator({ ...deps, key, nics: () => nics ?? [] });
  const initial: State = {
    settings: evaluator.resolve(undefined, undefined),
    problems: [],
    verdict: undefined,
    stolen: undefined,
    lastValid: undefined,
  };
  const current = (): State => state.known ?? initial;

  const reflectedIn = (kubeState: KubeState): NodeConfig | undefined =>
    kubeState.get('nodeconfig')?.get(key) as NodeConfig | undefined;

  /** Without the database the node keeps a NodeConfig that it has seen there. */
  function nodeConfigIn(
    { kubeState, isStateLocal }: ResyncContext | UpdateContext,
    lastValid: ValidNodeConfig | undefined,
  ): NodeConfig | undefined {
    if (config.crdNodeConfigurationDisabled) return undefined;
    const remembered = isStateLocal ? lastValid?.nodeConfig : undefined;
    return reflectedIn(kubeState) ?? remembered ?? undefined;
  }

  /**
   * NICs are read once, so that the main interface of a running node does not change. While there is
   * none, they are read again, because VPP may have restarted with one. Before the first successful
   * read the settings are unknown, so the resync is aborted.
   */
  async function readNics(ctx: ResyncContext): Promise<void> {
    const full = ctx.event.kind.method(ctx.event.payload) === EventMethod.FullResync;
    if (nics && !(full && nics.length === 0)) return;
    try {
      nics = await ctx.callPort('vpp/nics', async () => {
        return dpdkNics(await deps.vpp.interfaces());
      });
    } catch (cause) {
      if (!nics) throw causedError(AbortEventError, 'cannot list the NICs of VPP', cause);
      ctx.log.warn({ err: cause }, 'cannot list the NICs of VPP; keeping the last known ones');
    }
  }

  /** An invalid NodeConfig changes nothing: the last valid one stays in use. */
  async function configure(
    ctx: ResyncContext,
    nodeConfig: NodeConfig | undefined,
    before: NicAndConfig,
  ): Promise<State> {
    const { lastValid } = before;
    const { refused, ...found } = await evaluator.evaluate(ctx, nodeConfig, before);
    const isValid = refused.length === 0;
    const decision = isValid ? 'applied' : lastValid ? 'refused' : 'partly applied';
    const verdict: NodeConfigVerdict | undefined = nodeConfig && { nodeConfig, decision, refused };
    if (isValid) {
      const valid = { nodeConfig: nodeConfig ?? null, stolen: found.stolen ?? null };
      await record.write(ctx, valid);
      return { ...found, verdict, lastValid: valid };
    }
    if (!lastValid) return { ...found, verdict, lastValid };
    // its last write may have failed
    await record.write(ctx, lastValid);
    const kept = await evaluator.evaluate(ctx, lastValid.nodeConfig ?? undefined, before);
    ctx.log.error({ key }, 'NodeConfig is invalid; keeping the last valid one');
    const problems = [...found.problems, ...kept.problems];
    return { settings: kept.settings, problems, stolen: kept.stolen, verdict, lastValid };
  }

  function ignored(kubeState: KubeState): NodeConfigVerdict | undefined {
    const nodeConfig = reflectedIn(kubeState);
    return nodeConfig && { nodeConfig, decision: 'ignored', refused: [] };
  }

  return {
    name: 'contivconf',
    state,
    mainInterface: () => current().settings.main,
    otherInterfaces: () => current().settings.others,
    defaultGateways: () => current().settings.defaultGateways,
    natExternalTraffic: () => current().settings.natExternalTraffic,
    natExternalTrafficIPv6: () => config.natExternalTrafficIPv6,
    useSrv6ForServices: () => config.useSRv6ForServices,
    stn: () => current().settings.stn,
    interfaces: () => interfaces,
    routing: () => routing,
    wireguard: () => wireguard,
    ipam: () => ipam,
    neighborScan: () => neighborScan,
    packetTrace: () => config.enablePacketTrace,
    nodeConfigVerdict: () => current().verdict,

    handlesEvent(event: Event): boolean {
      if (event.kind.method(event.payload) !== EventMethod.Update) return true;
      return KubeStateChange.is(event) && event.payload.key === key;
    },

    async resync(ctx: ResyncContext, previous: State | undefined): Promise<State> {
      await readNics(ctx);
      const lastValid = previous?.lastValid ?? (await record.read(ctx));
      const before = { stolen: previous?.stolen, lastValid };
      const next = await configure(ctx, nodeConfigIn(ctx, lastValid), before);
      if (config.crdNodeConfigurationDisabled) next.verdict = ignored(ctx.kubeState);
      const { settings } = next;
      for (const problem of next.problems) ctx.log.error({ err: problem }, problem.message);
      for (const { text } of settings.problems) ctx.log.warn({ key }, text);
      ctx.log.info({ settings }, 'configuration of this node');
      return next;
    },

    /** The settings themselves change with the resync that follows. */
    async update(ctx: UpdateContext, now: State): Promise<UpdateResult | undefined> {
      if (config.crdNodeConfigurationDisabled) {
        now.verdict = ignored(ctx.kubeState);
        return undefined;
      }
      const nodeConfig = nodeConfigIn(ctx, now.lastValid);
      const [nic] = stolenNic({ file: config, nodeName, nodeConfig });
      const { stolen, settings, verdict } = now;
      const next = evaluator.resolve(nodeConfig, stolen?.interface);
      const same = nic === stolen?.name && JSON.stringify(next) === JSON.stringify(settings);
      if (same && !verdict?.refused.length) {
        now.verdict = nodeConfig && { nodeConfig, decision: 'applied', refused: [] };
        now.lastValid = { nodeConfig: nodeConfig ?? null, stolen: stolen ?? null };
        await record.write(ctx, now.lastValid);
        return undefined;
      }
      ctx.followUp(NodeConfigChange.event({ node: nodeName }));
      return { change: 'configuration of this node changed; a resync follows' };
    },

    problems: () => current().problems,

    describeInternalData: () => JSON.stringify({ nics: nics ?? [], settings: current().settings }),
  };
}
