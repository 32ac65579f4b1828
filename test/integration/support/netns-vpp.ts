import type { Netns } from './netns.ts';
import { VppProcess } from './vpp-process.ts';

/** A VPP of a node: in the node's network namespace, with the priority of cores of its own. */
export function vppIn(netns: Netns, folder: string, extraConfig = ''): VppProcess {
  // A VPP that waits 160 ms for a core loses packets.
  return new VppProcess({ prefix: ['chrt', '--fifo', '10', ...netns.enter], folder, extraConfig });
}
