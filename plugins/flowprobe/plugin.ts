/**
 * Event handler that lets VPP count the flows of pods without sockets of this kernel: those behind a memif of external
 * configuration. A node without such an interface has no value of this handler.
 */
import { FLOW_PORT, flowExporterModel } from '#models/vpp/flow-exporter.ts';
import { flowProbeModel } from '#models/vpp/flow-probe.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { ExternalConfigChange } from '#plugins/controller/api/events.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import { keyValue } from '#plugins/controller/api/key-value.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import type { FlowProbeApi } from './api.ts';

export interface FlowProbeDeps {
  /** Whether flows are recorded. */
  readonly isOn: boolean;
  readonly net: Pick<Ipv4NetApi, 'hostLinkEnds'>;
  readonly vpp: Pick<VppPort, 'hasFlowProbe'>;
  readonly desired: Pick<DesiredValues, 'external'>;
}

export function createFlowProbe(deps: FlowProbeDeps): EventHandler & FlowProbeApi {
  return new FlowProbes(deps);
}

interface State {
  /** Names of the interfaces. No event that changes them is reverted. */
  readonly memifs: Set<string>;
  /** Why they are not probed. */
  readonly obstacle: string | undefined;
}

class FlowProbes implements EventHandler<State>, FlowProbeApi {
  readonly name = 'flowprobe';
  readonly state = new HandlerState<State>(this.name);
  readonly #deps: FlowProbeDeps;

  constructor(deps: FlowProbeDeps) {
    this.#deps = deps;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    return ExternalConfigChange.is(event) && interfaceKeys(event.payload.values).length > 0;
  }

  async resync(ctx: ResyncContext): Promise<State> {
    const { external } = this.#deps.desired;
    const memifs = new Set<string>();
    for (const key of external.keys()) {
      const name = probedInterface(key, external.get(key));
      if (name !== undefined) memifs.add(name);
    }
    const state = { memifs, obstacle: await this.#obstacle(ctx) };
    this.#putExporter(ctx, state);
    for (const name of memifs) this.#putProbe(ctx, state, name);
    return state;
  }

  update(ctx: UpdateContext, state: State): UpdateResult {
    if (!ExternalConfigChange.is(ctx.event)) return {};
    const { external } = this.#deps.desired;
    for (const key of interfaceKeys(ctx.event.payload.values)) {
      const name = key.slice(vppInterfaceModel.keyPrefix.length);
      if (probedInterface(key, external.get(key)) !== undefined) state.memifs.add(name);
      else if (!state.memifs.delete(name)) continue;
      this.#putProbe(ctx, state, name);
    }
    this.#putExporter(ctx, state);
    return {};
  }

  problem(): string | undefined {
    const { known } = this.state;
    if (!known || known.memifs.size === 0 || !this.#deps.isOn) return undefined;
    return known.obstacle;
  }

  describeInternalData(): string {
    const { known } = this.state;
    return known ? JSON.stringify([[...known.memifs].sort(), known.obstacle]) : '';
  }

  async #obstacle(ctx: ResyncContext): Promise<string | undefined> {
    const { isOn, net, vpp } = this.#deps;
    if (!isOn) return 'flows are not recorded';
    if (net.hostLinkEnds() === undefined)
      return 'memif: VPP sends flows to an IPv4 address of the host on its link to VPP, in VRF 0, and there is none (IPv6 alone, STN, or mainVRFID is not 0)';
    return (await ctx.callPort('vpp/has flow probe', () => vpp.hasFlowProbe()))
      ? undefined
      : 'memif: VPP has no flowprobe_plugin.so';
  }

  #putExporter({ txn }: Pick<UpdateContext, 'txn'>, { memifs, obstacle }: State): void {
    const ends = obstacle === undefined ? this.#deps.net.hostLinkEnds() : undefined;
    const isNeeded = ends !== undefined && memifs.size > 0;
    const exporter = isNeeded
      ? [
          keyValue(flowExporterModel, {
            collector_address: ends.host,
            collector_port: FLOW_PORT,
            source_address: ends.vpp,
          }),
        ]
      : [];
    txn.replace('exporter', exporter);
  }

  #putProbe({ txn }: Pick<UpdateContext, 'txn'>, { memifs, obstacle }: State, name: string): void {
    const isProbed = obstacle === undefined && memifs.has(name);
    const values = isProbed ? [keyValue(flowProbeModel, { interface: name })] : [];
    txn.replace(`interface/${name}`, values);
  }
}

function interfaceKeys(values: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(values).filter((key) => key.startsWith(vppInterfaceModel.keyPrefix));
}

/** Name of the interface if there may be a pod behind it. VPP sees no frames at a memif without Ethernet. */
function probedInterface(key: string, value: object | undefined): string | undefined {
  if (value === undefined || !key.startsWith(vppInterfaceModel.keyPrefix)) return undefined;
  const { name, type, memif } = value as VppInterface;
  return type === 'MEMIF' && memif?.mode !== 'IP' ? name : undefined;
}
