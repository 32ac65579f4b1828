/** The actual state, as the descriptors of VPP and Linux retrieve it. */
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type {
  BridgeDomainMetadata,
  VppInterfaceMetadata,
} from '#plugins/controller/api/ports/metadata.ts';

export interface ActualValue<V extends object, M = undefined, D = undefined> {
  readonly value: V;
  readonly metadata: M;
  readonly details: D;
}

/** The index in place of an interface that does not exist. */
const NONE = 0xffff_ffff;

export class Southbound {
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** @throws what reading the southbound throws */
  async read<V extends object, M = undefined, D = undefined>(
    descriptor: string,
  ): Promise<readonly ActualValue<V, M, D>[]> {
    const found = await this.#scheduler.dump('SB', { descriptor });
    return found.map(({ Value, Metadata, details }) => ({
      value: Value.value as V,
      metadata: Metadata as M,
      details: details as D,
    }));
  }

  indexOfInterface(name: string): number {
    const known = this.#scheduler.metadataMap<VppInterfaceMetadata>('vpp-interface');
    return known?.getValue(labelOf(name))?.swIfIndex ?? NONE;
  }

  indexOfBridgeDomain(name: string): number {
    const known = this.#scheduler.metadataMap<BridgeDomainMetadata>('vpp-bridge-domain');
    return known?.getValue(name)?.bdId ?? NONE;
  }
}

/** Metadata has the label of the value: its key without the prefix of the model. */
function labelOf(name: string): string {
  return vppInterfaceKey.build({ name }).slice(vppInterfaceKey.prefix().length);
}
