import { hostTap, hostVeth } from './names.ts';
import type { NodeInput } from './node-input.ts';

/** Logical name of the VPP side of the link between VPP and the host. */
export function hostInterconnectName(input: Pick<NodeInput, 'interfaces'>): string {
  return (input.interfaces.useTap ? hostTap : hostVeth).vpp;
}

/** Logical name of the host side. */
export function hostSideName(input: Pick<NodeInput, 'interfaces'>): string {
  return (input.interfaces.useTap ? hostTap : hostVeth).linux;
}
