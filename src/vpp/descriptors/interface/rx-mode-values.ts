/** Receive modes: what is asked for a queue, and what VPP reports of it. */
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

/** Mode of one receive queue as VPP reports it. */
export interface QueueMode {
  readonly queue: number;
  readonly mode: number;
}

export function modeNumber(mode: InterfaceRxMode['mode']): number {
  return numbers[mode];
}

/**
 * What was found, written as it was wanted where that means the same: `DEFAULT` leaves the mode to
 * VPP, which never reports it, and a mode for all queues comes back queue by queue. Modes of queues
 * that nobody asked about are not ours.
 */
export function adoptRxModes(
  found: readonly QueueMode[],
  wanted: readonly InterfaceRxMode[],
): readonly InterfaceRxMode[] {
  const byDefault = wanted.find((each) => each.default_mode)?.mode;
  const asked = (queue: number): InterfaceRxMode['mode'] | undefined =>
    wanted.find((each) => !each.default_mode && each.queue === queue)?.mode ?? byDefault;
  const fits = found.every(({ queue, mode }) => {
    const wish = asked(queue);
    return wish === undefined || wish === 'DEFAULT' || numbers[wish] === mode;
  });
  if (fits) return wanted;
  return found
    .filter(({ queue }) => asked(queue) !== undefined)
    .map(({ queue, mode }) => ({ queue, mode: names.get(mode) ?? 'UNKNOWN', default_mode: false }));
}
