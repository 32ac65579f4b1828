import type { Netns } from './netns.ts';
import { VppProcess } from './vpp-process.ts';

/** A VPP of a node: in the node's network namespace, with the priority of cores of its own. */
export function vppIn(
  netns: Netns,
  folder: string,
  extraConfig = '',
  workers = 0,
  statistics = '',
  /** Words before the command, which become it. */
  wrapper: readonly string[] = [],
): VppProcess {
  // A VPP that waits 160 ms for a core loses packets. Workers spin for half a second after each message
  // of the API, which keeps agents and etcd from the cores unless their priority is lower.
  const priority = workers === 0 ? ['chrt', '--fifo', '10'] : ['nice', '-n', '5'];
  const prefix = [...priority, ...netns.enter, ...wrapper];
  return new VppProcess({ prefix, folder, extraConfig, workers, statistics });
}
