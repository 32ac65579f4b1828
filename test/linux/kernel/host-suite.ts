/** The contract of LinuxHost, for the simulation and for the kernel of this machine. */
import type { LinuxBackend } from './host/bench.ts';
import { layer3Suite } from './host/layer3.ts';
import { linkSuite } from './host/links.ts';
import { turnSuite } from './host/order.ts';

export function linuxHostSuite(name: string, make: () => Promise<LinuxBackend>): void {
  for (const suite of [linkSuite, layer3Suite, turnSuite]) suite(name, make);
}
