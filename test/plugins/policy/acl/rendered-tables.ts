/** Tables that a renderer made of pods, and what they decide. */
import { AclRenderer } from '#plugins/policy/acl/renderer.ts';
import type { CheckedAddress, RenderedPod } from '#plugins/policy/rendered-state.ts';
import { RenderedValues } from '../rendered-values.ts';
import { boundRules, decide, type TestPacket } from './acl-evaluator.ts';
import { node } from './rendered-pods.ts';

export type Pods = ReadonlyMap<string, RenderedPod>;
type Services = ReadonlyMap<string, readonly CheckedAddress[]>;

export async function rendered(all: Pods, maxRules?: number, services: Services = new Map()) {
  const recorded = new RenderedValues();
  const renderer = await AclRenderer.render(
    recorded.begin(),
    { node, pods: all, services },
    maxRules,
  );
  return { renderer, recorded };
}

export const mapOf = (...all: readonly RenderedPod[]): Pods =>
  new Map(all.map((one) => [`id-${one.interface}`, one]));

/** Whether the table in front of an interface lets a packet pass. */
export function passes(recorded: RenderedValues, name: string, packet: TestPacket): boolean {
  return decide(boundRules(recorded.values.values(), name, 'egress'), packet) !== 'DENY';
}

export const packet = (
  from: string,
  to: string,
  port: number,
  protocol: TestPacket['protocol'] = 'TCP',
) => ({
  from,
  to,
  protocol,
  sourcePort: 40_000,
  port,
});

export function inputRules(recorded: RenderedValues, name: string) {
  return boundRules(recorded.values.values(), name, 'ingress');
}
