/** Event handler that resolves the configuration of this node from all its sources. */

import { deepFreeze } from '#infra/collections/deep-freeze.ts';
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
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import type { StnPort, StolenInterface } from '#plugins/controller/api/ports/stn.ts';
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
import { type NodeSettings, podFamily, resolveNode, stolenNic } from './node-settings.ts';

export interface ContivConfDeps {
  readonly nodeName: string;
  /** Without problems of level `error`. */
  readonly config: ContivConfig;
  readonly vpp: VppPort;
  readonly stn: StnPort;
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
  /** The last answer of the STN daemon, with the requested name of the NIC. */
  let stolen: { readonly name: string; readonly interface: StolenInterface } | undefined;
  let settings = resolve(undefined);

  function resolve(nodeConfig: NodeConfig | undefined): NodeSettings {
    return deepFreeze(
      resolveNode({ file: config, nodeName, nodeConfig, nics, stolen: stolen?.interface }),
    );
  }

  const nodeConfigIn = (state: KubeState): NodeConfig | undefined =>
    config.crdNodeConfigurationDisabled
      ? undefined
      : (state.get('nodeconfig')?.get(key) as NodeConfig | undefined);

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

  /** The configuration of the host on a NIC is read once: it does not change after the take-over. */
  async function readStolenNic(ctx: ResyncContext, nodeConfig: NodeConfig | undefined) {
    const [name] = stolenNic({ file: config, nodeName, nodeConfig });
    if (name === stolen?.name) return;
    stolen = undefined;
    if (name === undefined) return;
    try {
      const answer = await ctx.callPort(`stn/stolen interface ${name}`, () =>
        deps.stn.stolenInterface(name),
      );
      stolen = { name, interface: answer };
    } catch (cause) {
      throw new AbortEventError(
        'cannot read the configuration of the host on the NIC that VPP took over',
        {
          cause,
        },
      );
    }
  }

  return {
    name: 'contivconf',
    useIpv6: () => ipv6,
    mainInterface: () => settings.main,
    otherInterfaces: () => settings.others,
    defaultGateway: () => settings.defaultGateway,
    natExternalTraffic: () => settings.natExternalTraffic,
    stn: () => settings.stn,
    interfaces: () => interfaces,
    routing: () => routing,
    ipam: () => ipam,
    neighborScan: () => neighborScan,
    packetTrace: () => config.enablePacketTrace,

    handlesEvent(event: Event): boolean {
      if (event.kind.method(event.payload) !== EventMethod.Update) return true;
      return KubeStateChange.is(event) && event.payload.key === key;
    },

    async resync(ctx: ResyncContext): Promise<void> {
      await readNics(ctx);
      await readStolenNic(ctx, nodeConfigIn(ctx.kubeState));
      settings = resolve(nodeConfigIn(ctx.kubeState));
      for (const problem of settings.problems) ctx.log.warn({ key }, problem);
      ctx.log.info({ settings }, 'configuration of this node');
    },

    /** The settings themselves change with the resync that follows. */
    update(ctx: UpdateContext): UpdateResult | undefined {
      const nodeConfig = nodeConfigIn(ctx.kubeState);
      const [nic] = stolenNic({ file: config, nodeName, nodeConfig });
      const next = resolve(nodeConfig);
      const same = nic === stolen?.name && JSON.stringify(next) === JSON.stringify(settings);
      if (same) return undefined;
      ctx.followUp(NodeConfigChange.event({ node: nodeName }));
      return { change: 'configuration of this node changed; a resync follows' };
    },

    revert(): void {},

    describeInternalData: () => JSON.stringify({ nics, settings }),
  };
}
