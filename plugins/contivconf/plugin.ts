/** Event handler that resolves the configuration of this node from all its sources. */

import type { KvStore } from '#datastore/api.ts';
import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { NodeConfig } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  KubeState,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
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
} from './global-settings.ts';
import { Evaluator } from './node-evaluation.ts';
import { podFamily, stolenNic } from './node-settings.ts';
import { ValidNodeConfigRecord } from './valid-node-config.ts';
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

export function createContivConf(deps: ContivConfDeps): EventHandler & ContivConfApi {
  const { config, nodeName } = deps;
  const key = resources.nodeconfig.key(nodeName, '');
  const interfaces = deepFreeze(interfaceConfig(config));
  const routing = deepFreeze(routingConfig(config));
  const ipam = deepFreeze(ipamConfig(config));
  const neighborScan = deepFreeze(neighborScanConfig(config));
  const ipv6 = podFamily(config) === 6;

  let nics: readonly string[] = [];
  let nicsAreKnown = false;
  const lastValid = new ValidNodeConfigRecord(deps.store);
  const evaluator = new Evaluator({ ...deps, key, nics: () => nics, lastValid });
  let settings = evaluator.resolve(undefined, undefined);
  let problems: readonly CodedError[] = [];
  let verdict: NodeConfigVerdict | undefined;
  /** The state of Kubernetes is that of the local mirror, which may lack the last changes. */
  let isStateLocal = false;

  const reflectedIn = (state: KubeState): NodeConfig | undefined =>
    state.get('nodeconfig')?.get(key) as NodeConfig | undefined;

  /** Without the database the node keeps a NodeConfig that it has seen there. */
  function nodeConfigIn(state: KubeState): NodeConfig | undefined {
    if (config.crdNodeConfigurationDisabled) return undefined;
    const remembered = isStateLocal ? lastValid.value?.nodeConfig : undefined;
    return reflectedIn(state) ?? remembered ?? undefined;
  }

  /**
   * NICs are read once, so that the main interface of a running node does not change. While there is
   * none, they are read again, because VPP may have restarted with one. Before the first successful
   * read the settings are unknown, so the resync is aborted.
   */
  async function readNics(ctx: ResyncContext): Promise<void> {
    const full = ctx.event.kind.method(ctx.event.payload) === EventMethod.FullResync;
    if (nicsAreKnown && !(full && nics.length === 0)) return;
    try {
      nics = await ctx.callPort('vpp/nics', async () => {
        return dpdkNics(await deps.vpp.interfaces());
      });
      nicsAreKnown = true;
    } catch (cause) {
      if (!nicsAreKnown) throw new AbortEventError('cannot list the NICs of VPP', { cause });
      ctx.log.warn({ err: cause }, 'cannot list the NICs of VPP; keeping the last known ones');
    }
  }

  /** An invalid NodeConfig changes nothing: the last valid one stays in use. */
  async function configure(ctx: ResyncContext, nodeConfig: NodeConfig | undefined): Promise<void> {
    const found = await evaluator.evaluate(ctx, nodeConfig);
    const last = lastValid.value;
    const { refused } = found;
    const isValid = refused.length === 0;
    const decision = isValid ? 'applied' : last ? 'refused' : 'partly applied';
    verdict = nodeConfig && { nodeConfig, decision, refused };
    if (isValid || !last) {
      settings = found.settings;
      problems = found.problems;
      const { stolen } = evaluator;
      if (isValid)
        await lastValid.write(ctx, { nodeConfig: nodeConfig ?? null, stolen: stolen ?? null });
      return;
    }
    // its last write may have failed
    await lastValid.write(ctx, last);
    const kept = await evaluator.evaluate(ctx, last.nodeConfig ?? undefined);
    settings = kept.settings;
    problems = [...found.problems, ...kept.problems];
    ctx.log.error({ key }, 'NodeConfig is invalid; keeping the last valid one');
  }

  function ignored(state: KubeState): NodeConfigVerdict | undefined {
    const nodeConfig = reflectedIn(state);
    return nodeConfig && { nodeConfig, decision: 'ignored', refused: [] };
  }

  return {
    name: 'contivconf',
    useIpv6: () => ipv6,
    mainInterface: () => settings.main,
    otherInterfaces: () => settings.others,
    defaultGateway: () => settings.defaultGateway,
    natExternalTraffic: () => settings.natExternalTraffic,
    useSrv6ForServices: () => config.useSRv6ForServices,
    stn: () => settings.stn,
    interfaces: () => interfaces,
    routing: () => routing,
    ipam: () => ipam,
    neighborScan: () => neighborScan,
    packetTrace: () => config.enablePacketTrace,
    nodeConfigVerdict: () => verdict,

    handlesEvent(event: Event): boolean {
      if (event.kind.method(event.payload) !== EventMethod.Update) return true;
      return KubeStateChange.is(event) && event.payload.key === key;
    },

    async resync(ctx: ResyncContext): Promise<void> {
      await readNics(ctx);
      await lastValid.read(ctx);
      if (DbResync.is(ctx.event)) isStateLocal = ctx.event.payload.local;
      await configure(ctx, nodeConfigIn(ctx.kubeState));
      if (config.crdNodeConfigurationDisabled) verdict = ignored(ctx.kubeState);
      for (const problem of problems) ctx.log.error({ err: problem }, problem.message);
      for (const { text } of settings.problems) ctx.log.warn({ key }, text);
      ctx.log.info({ settings }, 'configuration of this node');
    },

    /** The settings themselves change with the resync that follows. */
    async update(ctx: UpdateContext): Promise<UpdateResult | undefined> {
      if (config.crdNodeConfigurationDisabled) {
        verdict = ignored(ctx.kubeState);
        return undefined;
      }
      const nodeConfig = nodeConfigIn(ctx.kubeState);
      const [nic] = stolenNic({ file: config, nodeName, nodeConfig });
      const stolen = evaluator.stolen;
      const next = evaluator.resolve(nodeConfig, stolen?.interface);
      const same = nic === stolen?.name && JSON.stringify(next) === JSON.stringify(settings);
      if (same && !verdict?.refused.length) {
        verdict = nodeConfig && { nodeConfig, decision: 'applied', refused: [] };
        const valid = { nodeConfig: nodeConfig ?? null, stolen: stolen ?? null };
        await lastValid.write(ctx, valid);
        return undefined;
      }
      ctx.followUp(NodeConfigChange.event({ node: nodeName }));
      return { change: 'configuration of this node changed; a resync follows' };
    },

    problems: () => problems,

    describeInternalData: () => JSON.stringify({ nics, settings }),
  };
}
