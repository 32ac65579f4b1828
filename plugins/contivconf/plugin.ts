/** Event handler that resolves the configuration of this node from all its sources. */
import { AbortEventError } from '#eventloop/errors.ts';
import { type Event, EventMethod } from '#eventloop/event.ts';
import type {
  EventHandler,
  KubeState,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#eventloop/handler.ts';
import type { NodeConfig } from '#models/kube/nodeconfig.ts';
import type { VppView } from '#nodeview/vpp.ts';
import { KubeStateChange } from '#plugins/controller/api.ts';
import { resources } from '#resources/resources.ts';
import { type ContivConfApi, NodeConfigChange } from './api.ts';
import type { ContivConfig } from './config.ts';
import {
  interfaceConfig,
  ipamConfig,
  type NodeSettings,
  neighbourScanConfig,
  resolveNode,
  routingConfig,
} from './resolve.ts';

export interface ContivConfDeps {
  readonly nodeName: string;
  /** Without problems of level `error`. */
  readonly config: ContivConfig;
  readonly vpp: VppView;
}

const dpdk = 'dpdk';

export function createContivConf(deps: ContivConfDeps): EventHandler & ContivConfApi {
  const { config, nodeName } = deps;
  const key = resources.nodeconfig.key(nodeName, '');
  const interfaces = interfaceConfig(config);
  const routing = routingConfig(config);
  const ipam = ipamConfig(config);
  const neighbourScan = neighbourScanConfig(config);
  const ipv6 = (ipam.contivCidr || ipam.podSubnetCidr).includes(':');

  let nics: readonly string[] = [];
  let nicsAreKnown = false;
  let settings = resolve(undefined);

  function resolve(nodeConfig: object | undefined): NodeSettings {
    const used = config.crdNodeConfigurationDisabled ? undefined : (nodeConfig as NodeConfig);
    return resolveNode({ file: config, nodeName, nodeConfig: used, nics });
  }

  const inState = (state: KubeState): object | undefined => state.get('nodeconfig')?.get(key);

  /**
   * NICs are looked up once, so that the main interface does not change under a running node; while
   * there is none they are looked up again, because VPP may have been started anew with one. Before
   * the first answer nothing of the node can be worked out, so the resync waits for the next one.
   */
  async function lookUpNics(ctx: ResyncContext): Promise<void> {
    const full = ctx.event.kind.method(ctx.event.payload) === EventMethod.FullResync;
    if (nicsAreKnown && !(full && nics.length === 0)) return;
    try {
      nics = await ctx.ask('vpp/nics', async () => {
        const all = await deps.vpp.interfaces();
        return all
          .filter(({ deviceType }) => deviceType.toLowerCase() === dpdk)
          .sort((a, b) => a.swIfIndex - b.swIfIndex)
          .map(({ internalName }) => internalName);
      });
      nicsAreKnown = true;
    } catch (cause) {
      if (!nicsAreKnown) throw new AbortEventError('cannot list the NICs of VPP', { cause });
      ctx.log.warn({ err: cause }, 'cannot list the NICs of VPP; those known are kept');
    }
  }

  return {
    name: 'contivconf',
    useIpv6: () => ipv6,
    mainInterface: () => settings.main,
    otherInterfaces: () => settings.others,
    defaultGateway: () => settings.defaultGateway,
    natExternalTraffic: () => settings.natExternalTraffic,
    interfaces: () => interfaces,
    routing: () => routing,
    ipam: () => ipam,
    neighbourScan: () => neighbourScan,

    handlesEvent(event: Event): boolean {
      if (event.kind.method(event.payload) !== EventMethod.Update) return true;
      return KubeStateChange.is(event) && event.payload.key === key;
    },

    async resync(ctx: ResyncContext): Promise<void> {
      await lookUpNics(ctx);
      settings = resolve(inState(ctx.kubeState));
      for (const reason of settings.rejected)
        ctx.log.warn({ key }, `NodeConfig is used without ${reason}`);
      ctx.log.info({ settings }, 'configuration of this node');
    },

    /** The settings themselves change with the resync that follows. */
    update(ctx: UpdateContext): UpdateResult | undefined {
      const next = resolve(inState(ctx.kubeState));
      if (JSON.stringify(next) === JSON.stringify(settings)) return undefined;
      ctx.followUp(NodeConfigChange.event({ node: nodeName }));
      return { change: 'configuration of this node changed, a resync follows' };
    },

    revert(): void {},

    describeInternalData: () => JSON.stringify({ nics, settings }),
  };
}
