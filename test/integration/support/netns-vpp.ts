import type { Netns } from './netns.ts';
import { VppProcess } from './vpp-process.ts';

/** A VPP of a node: in the node's network namespace, with the priority of cores of its own. */
export function vppIn(netns: Netns, folder: string, extraConfig = '', workers = 0): VppProcess {
  // A VPP that waits 160 ms for a core loses packets. Threads that spin until the others of the process
  // get a core must not have a priority that keeps the others from it.
  const priority = workers === 0 ? ['chrt', '--fifo', '10'] : ['nice', '-n', '-10'];
  return new VppProcess({ prefix: [...priority, ...netns.enter], folder, extraConfig, workers });
}
