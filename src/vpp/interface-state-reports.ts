/** Reports the state of each interface when it changes, as the model InterfaceState. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#infra/clock/clock.ts';
import type { InterfaceType } from '#models/vpp/interface.gen.ts';
import type { InterfaceStateDuplex } from '#models/vpp/interface-state.gen.ts';
import { type InterfaceState, interfaceStateModel } from '#models/vpp/interface-state.ts';
import { fromMac } from './binapi/addresses.ts';
import { IfStatusFlags, LinkDuplex } from './binapi/enums.gen.ts';
import type { SwInterfaceDetails } from './binapi/messages.gen.ts';
import { linkState } from './descriptors/interface/link-state.ts';

const BITS_PER_KILOBIT = 1000;

const duplexNames: ReadonlyMap<number, InterfaceStateDuplex> = new Map([
  [LinkDuplex.LINK_DUPLEX_API_HALF, 'HALF'],
  [LinkDuplex.LINK_DUPLEX_API_FULL, 'FULL'],
]);

export class InterfaceStateReports {
  readonly #clock: Pick<Clock, 'wallTime'>;
  readonly #onChange: (state: InterfaceState) => void;
  /** Last reported state of each interface that exists. */
  readonly #last = new Map<string, InterfaceState>();

  constructor(clock: Pick<Clock, 'wallTime'>, onChange: (state: InterfaceState) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** @param found undefined: VPP does not have the interface */
  report(
    name: string,
    type: InterfaceType | undefined,
    found: SwInterfaceDetails | undefined,
  ): void {
    const last = this.#last.get(name);
    if (!found) {
      if (!last) return;
      this.#last.delete(name);
      this.#onChange({
        ...last,
        admin_status: 'DELETED',
        oper_status: 'DELETED',
        last_change: this.#seconds(),
      });
      return;
    }
    const state = stateOf(name, type ?? last?.type, found);
    if (last && isDeepStrictEqual({ ...state, last_change: last.last_change }, last)) return;
    const changed = { ...state, last_change: this.#seconds() };
    this.#last.set(name, changed);
    this.#onChange(changed);
  }

  #seconds(): number {
    return Math.floor(this.#clock.wallTime() / 1000);
  }
}

function stateOf(
  name: string,
  type: InterfaceType | undefined,
  found: SwInterfaceDetails,
): InterfaceState {
  const isAdminUp = (found.flags & IfStatusFlags.IF_STATUS_API_FLAG_ADMIN_UP) !== 0;
  return interfaceStateModel.canonical({
    name,
    internal_name: found.interface_name,
    ...(type !== undefined && { type }),
    if_index: found.sw_if_index,
    admin_status: isAdminUp ? 'UP' : 'DOWN',
    oper_status: linkState(found.flags),
    phys_address: fromMac(found.l2_address),
    speed: found.link_speed * BITS_PER_KILOBIT,
    mtu: found.link_mtu,
    duplex: duplexNames.get(found.link_duplex) ?? 'UNKNOWN_DUPLEX',
  });
}
