/** A node whose graph is measured, and two of its pods. */
import type { NetworkNamespace } from '#test/integration/support/traffic.ts';
import type { VppProcess } from '#test/integration/support/vpp-process.ts';
import type { Ends } from './paths.ts';

export interface MeasuredNode extends AsyncDisposable {
  readonly vpp: VppProcess;
  readonly ends: Ends;
  /** The sending pod. */
  readonly pod: NetworkNamespace;
  readonly otherPod: NetworkNamespace;
}

/** MAC address of an interface. */
export async function macOf(vpp: VppProcess, name: string): Promise<string> {
  const text = await vpp.cli(`show hardware-interfaces ${name}`);
  const mac = /Ethernet address (\S+)/.exec(text)?.[1];
  if (mac === undefined) throw new Error(`${name} has no MAC address: ${text}`);
  return mac;
}

/** Interface and MAC address with which VPP reaches a neighbor. */
export async function neighborOf(
  vpp: VppProcess,
  address: string,
): Promise<{ readonly interface: string; readonly mac: string }> {
  const text = await vpp.cli('show ip neighbors');
  const fields = text.split('\n').map((line) => line.trim().split(/\s+/));
  const found = fields.find(([, ip]) => ip === address);
  if (!found) throw new Error(`VPP has no neighbor ${address}: ${text}`);
  return { interface: found[4]!, mac: found[3]! };
}
