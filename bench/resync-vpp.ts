/**
 * Full resyncs of a node with 250 wired pods and 5,000 routes on a real VPP: on an empty VPP, then
 * without a change by the next agent and by the same one. A pod has the values of ipv4net, with a
 * loopback in place of the TAP: a TAP needs a kernel module and memory.
 */
import { vppArpModel } from '#models/vpp/arp.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { keyedValue, loop } from '#test/descriptors/compliance/example-values.ts';
import { base } from '#test/descriptors/node-values.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { commit, VppNode } from './lib/vpp-node.ts';

export const NAME = 'resync-vpp';

const PODS = 250;
const ROUTES = 5000;
const ROUNDS = 5;

function nodeValues(): ReadonlyMap<string, object> {
  const all = base();
  const add = ({ key, value }: ReturnType<typeof keyedValue>): void => void all.set(key, value);
  for (let pod = 0; pod < PODS; pod++) {
    const [ip, iface] = [`10.1.1.${pod + 2}`, `vpp-tap-${pod}`];
    const hex = pod.toString(16).padStart(2, '0');
    const unnumbered = { interface_with_ip: 'podGwLoop' };
    const phys_address = `02:fe:00:00:01:${hex}`;
    add(loop(iface, { enabled: true, vrf: 1, mtu: 1450, phys_address, unnumbered }));
    add(
      keyedValue(vppArpModel, {
        interface: iface,
        ip_address: ip,
        phys_address: `02:fe:00:00:02:${hex}`,
        static: true,
      }),
    );
    add(
      keyedValue(vppRouteModel, {
        vrf_id: 1,
        dst_network: `${ip}/32`,
        next_hop_addr: ip,
        outgoing_interface: iface,
      }),
    );
  }
  for (let route = 0; route < ROUTES; route++) {
    const dst_network = `100.${64 + (route >> 8)}.${route & 255}.0/24`;
    const hop = { next_hop_addr: '192.168.30.2', outgoing_interface: 'vxlanBVI' };
    add(keyedValue(vppRouteModel, { vrf_id: 1, dst_network, ...hop }));
  }
  return all;
}

export async function run(print: (line: string) => void): Promise<void> {
  if (withoutVpp()) {
    print(`not measured: ${withoutVpp()}`);
    return;
  }
  const values = nodeValues();
  print(`${values.size} values: ${PODS} pods and ${ROUTES} routes`);
  const all: number[] = [];
  const next: number[] = [];
  const same: number[] = [];
  let operations = 0;
  let longest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await using node = await VppNode.start();
    const [first, second] = [node.agent(), node.agent()];
    const made = await commit(first, 'full-resync', values);
    operations = made.operations;
    all.push(made.ms);
    const again = [
      await commit(second, 'full-resync', values),
      await commit(second, 'downstream-resync', new Map()),
    ] as const;
    if (again.some((each) => each.operations > 0))
      throw new Error('a resync without a change had operations');
    next.push(again[0].ms);
    same.push(again[1].ms);
    longest = Math.max(longest, first.load.longestStretch, second.load.longestStretch);
  }
  print(`empty VPP: ${text(all)}, ${operations} operations`);
  print(`no change, next agent: ${text(next)}`);
  print(`no change, same agent: ${text(same)}`);
  print(`longest stretch of the main thread: ${longest.toFixed(1)} ms`);
}

function text(ms: readonly number[]): string {
  const sorted = [...ms].sort((a, b) => a - b);
  const [least, median, most] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)];
  const round = (value = 0): string => value.toFixed(0);
  return `median ${round(median)} ms (${round(least)} to ${round(most)})`;
}
