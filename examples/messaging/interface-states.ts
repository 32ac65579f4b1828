/** Consumes a topic of Kafka: what agents publish about their interfaces becomes an index map. */
import {
  IndexMap,
  type InterfaceState,
  interfaceStateModel,
  type Logger,
  type Multiplexer,
  type NamedMapping,
} from 'contiv-vswitch';

export interface InterfaceStates {
  /** Found by name, and by the fields `admin` and `oper`. */
  readonly states: NamedMapping<InterfaceState>;
  stop(): void;
}

/** @param topic `interface-state-topic` of kafka.conf */
export function followInterfaceStates(
  mux: Multiplexer,
  topic: string,
  log: Logger,
): InterfaceStates {
  const states = new IndexMap<InterfaceState>('interface states', log, (state) => ({
    admin: [state.admin_status],
    oper: [state.oper_status],
  }));
  const stop = mux.protoConnection('interface-states', interfaceStateModel).watch(({ value }) => {
    if (value.oper_status === 'DELETED') states.delete(value.name);
    else states.put(value.name, value);
  }, topic);
  return { states, stop };
}
