/** Validation of values by the descriptors, without VPP and kernel. */
import assert from 'node:assert/strict';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { LinuxHost } from '#linux/api.ts';
import { linuxDescriptors } from '#linux/descriptors/linux-descriptors.ts';
import type { MessageModel } from '#models/define.ts';
import type { DeepInput } from '#models/model.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';

const descriptors = [
  ...vppDescriptors({ client: {} as VppClient, clock: new ManualClock(), log: silentLogger }),
  ...linuxDescriptors({ host: {} as LinuxHost, label: 'node1', log: silentLogger }),
];

export function descriptorOf(name: string): AnyDescriptor {
  const found = descriptors.find((each) => each.name === name);
  assert.ok(found !== undefined, name);
  return found;
}

/** Asserts that the descriptor rejects each of the values for the field beside it. */
export function assertRejected<T extends object>(
  name: string,
  model: MessageModel<T>,
  cases: readonly (readonly [DeepInput<T>, string])[],
): void {
  const { validate } = descriptorOf(name);
  for (const [input, field] of cases) {
    const value = model.canonical(input);
    const check = () => validate?.(model.key(value), value);
    assert.throws(check, { name: 'InvalidValueError', fields: [field] }, JSON.stringify(input));
  }
}

export function assertAccepted<T extends object>(
  name: string,
  model: MessageModel<T>,
  inputs: readonly DeepInput<T>[],
): void {
  for (const input of inputs) {
    const value = model.canonical(input);
    descriptorOf(name).validate?.(model.key(value), value);
  }
}
