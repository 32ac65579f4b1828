/** NAT44 features of an interface while VPP refuses a message: the nodes that VPP has are those of the value. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { type Nat44Interface, nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import { keyedValue, loop } from '#test/descriptors/compliance/example-values.ts';
import { TestAgent } from '#test/descriptors/transitions/test-agent.ts';
import { simulatedVpp } from './backends.ts';

type Roles = Partial<Nat44Interface>;

const around = [
  keyedValue(nat44GlobalModel, { forwarding: true }),
  loop('pod', { enabled: true, ip_addresses: ['10.71.1.1/24'] }),
].map(({ key, value }) => [key, value] as const);
const natValue = (roles: Roles) => keyedValue(nat44InterfaceModel, { name: 'pod', ...roles });
const { key } = natValue({ nat_inside: true });

const inside = { nat_inside: true };
const out = { nat_outside: true };
const bothSides = { ...inside, ...out };
const classifying = { ...inside, classify: true };

const changes: readonly (readonly [Roles | undefined, Roles | undefined])[] = [
  [undefined, classifying],
  [classifying, undefined],
  [inside, classifying],
  [classifying, inside],
  [out, classifying],
  [classifying, out],
  [bothSides, classifying],
  [classifying, bothSides],
  [{ output_feature: true }, classifying],
  [classifying, { output_feature: true }],
];

for (const [from, to] of changes) {
  const name = `from ${JSON.stringify(from) ?? 'nothing'} to ${JSON.stringify(to) ?? 'nothing'}`;
  test(name, async () => {
    for (const isReverted of [false, true])
      for (let refused = 1; await isRefused(from, to, refused, isReverted); refused++);
  });
}

/** @returns whether the change had so many messages */
async function isRefused(
  from: Roles | undefined,
  to: Roles | undefined,
  message: number,
  isReverted: boolean,
): Promise<boolean> {
  const backend = await simulatedVpp();
  const agent = new TestAgent(backend);
  try {
    await agent.resync(desired(from));
    const change = new Map([[key, to === undefined ? null : natValue(to).value]]);
    const { failures, isRefused } = await agent.updateRefused(change, message, isReverted);
    await agent.recover();
    const end = isReverted && failures > 0 ? from : to;
    assert.deepEqual(features(backend), await featuresAtOnce(end), `message ${message} refused`);
    return isRefused;
  } finally {
    await agent.close();
    await backend.stop();
  }
}

async function featuresAtOnce(roles: Roles | undefined): Promise<unknown> {
  const backend = await simulatedVpp();
  const agent = new TestAgent(backend);
  await agent.resync(desired(roles));
  const made = features(backend);
  await agent.close();
  await backend.stop();
  return made;
}

function desired(roles: Roles | undefined): Map<string, object> {
  const own = roles && natValue(roles);
  return new Map(own ? [...around, [own.key, own.value] as const] : around);
}

function features({ simulated }: Awaited<ReturnType<typeof simulatedVpp>>): unknown {
  return (simulated?.snapshot() as { readonly features?: unknown } | undefined)?.features;
}
