/** Compares desired receive modes with those that VPP reports. */
import type { InterfaceRxMode } from '#models/vpp/interface.gen.ts';
import { RxMode } from '../../binapi/enums.gen.ts';

const numbers: Readonly<Record<InterfaceRxMode['mode'], number>> = {
  UNKNOWN: RxMode.RX_MODE_API_UNKNOWN,
  POLLING: RxMode.RX_MODE_API_POLLING,
  INTERRUPT: RxMode.RX_MODE_API_INTERRUPT,
  ADAPTIVE: RxMode.RX_MODE_API_ADAPTIVE,
  DEFAULT: RxMode.RX_MODE_API_DEFAULT,
};

const names = new Map(
  Object.entries(numbers).map(([name, number]) => [number, name as InterfaceRxMode['mode']]),
);

/** Mode of one receive queue, as VPP reports it. */
export interface QueueMode {
  readonly queue: number;
  readonly mode: number;
}

export function modeNumber(mode: InterfaceRxMode['mode']): number {
  return numbers[mode];
}

/**
 * The modes that were found, in the spelling of the desired ones where both are equivalent: `DEFAULT`
 * leaves the mode to VPP, which never reports it, and VPP returns a mode for all queues queue by queue.
 * Modes of queues without a desired mode are unmanaged.
 */
export function adoptRxModes(
  found: readonly QueueMode[],
  desired: readonly InterfaceRxMode[],
): readonly InterfaceRxMode[] {
  const byDefault = desired.find((each) => each.default_mode)?.mode;
  const desiredMode = (queue: number): InterfaceRxMode['mode'] | undefined =>
    desired.find((each) => !each.default_mode && each.queue === queue)?.mode ?? byDefault;
  const fits = found.every(({ queue, mode }) => {
    const target = desiredMode(queue);
    return target === undefined || target === 'DEFAULT' || numbers[target] === mode;
  });
  if (fits) return desired;
  return found
    .filter(({ queue }) => desiredMode(queue) !== undefined)
    .map(({ queue, mode }) => ({ queue, mode: names.get(mode) ?? 'UNKNOWN', default_mode: false }));
}
