/** Short ways to write example values. */
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { MessageModel } from '#models/define.ts';
import type { DeepInput } from '#models/model.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import type { Example } from './suite.ts';

export function keyedValue<T extends object>(
  model: MessageModel<T>,
  input: DeepInput<T>,
): KeyedValue {
  const value = model.canonical(input);
  return { key: model.key(value), value };
}

export function loop(name: string, more: DeepInput<VppInterface> = {}): KeyedValue {
  return keyedValue(vppInterfaceModel, { name, type: 'SOFTWARE_LOOPBACK', ...more });
}

export function table(id: number, protocol: 'IPV4' | 'IPV6' = 'IPV4'): KeyedValue {
  return keyedValue(vrfTableModel, { id, protocol, label: `table-${id}-${protocol}` });
}

/** One value of a model, and what it becomes. */
export function changing<T extends object>(
  model: MessageModel<T>,
  input: DeepInput<T>,
  to: DeepInput<T>,
  inPlace: boolean,
): Pick<Example, 'value' | 'change'> {
  return {
    value: keyedValue(model, input),
    change: { to: model.canonical({ ...input, ...to } as DeepInput<T>), inPlace },
  };
}
