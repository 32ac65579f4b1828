/** The scheduler, which configures VPP and Linux, and the watch of VPP's interfaces. */
import { compatibilityRoutes } from '#compatibility/routes.ts';
import type { NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { type WiredScheduler, wireScheduler } from '#kvscheduler/wire-scheduler.ts';
import type { InterfaceState } from '#models/vpp/interface-state.ts';
import type {
  VppInterfaceMetadata,
  WireguardPeerMetadata,
} from '#plugins/controller/api/ports/metadata.ts';
import { wireInterfaceWatch } from '#vpp/wire-vpp.ts';
import type { AgentPart, PartDeps } from './agent-part.ts';
import type { Southbound } from './southbound.ts';

export interface Scheduling extends AgentPart, Pick<WiredScheduler, 'scheduler' | 'onTransaction'> {
  /** Names and indexes of the configured interfaces of VPP. */
  readonly interfaces: NamedMapping<VppInterfaceMetadata>;
}

/** @param onStateChange called with the state of an interface when it has changed */
export function scheduling(
  deps: PartDeps,
  { vpp, linux }: Southbound,
  onStateChange: ((state: InterfaceState) => void) | undefined,
): Scheduling {
  const { settings, environment, build, status, registry, clock, loggers, print } = deps;
  const { scheduler, onTransaction, component } = wireScheduler({
    config: settings.kvscheduler,
    descriptors: [...vpp.descriptors, ...linux.descriptors],
    verify: Boolean(settings.env['KVSCHED_VERIFY_MODE']),
    registry,
    status,
    clock,
    log: loggers.get('kvscheduler'),
    print,
  });
  const interfaceWatch = wireInterfaceWatch({
    client: vpp.client,
    scheduler,
    clock,
    log: loggers.get('vpp'),
    onStateChange,
  });
  const peers = scheduler.metadataMap<WireguardPeerMetadata>('vpp-wireguard-peer')!;
  const sessions: Component = {
    name: 'sessions of WireGuard',
    init: () => vpp.wireguardSessions.start(peers),
    close: () => vpp.wireguardSessions.close(),
  };
  return {
    scheduler,
    onTransaction,
    interfaces: scheduler.metadataMap<VppInterfaceMetadata>('vpp-interface')!,
    components: [component, interfaceWatch, sessions],
    routes: compatibilityRoutes({ scheduler, linux: environment.linux, build, clock }),
  };
}
