/** A real VPP as a backend of the suites over descriptors. */
import { execFileSync } from 'node:child_process';
import { withoutVhostNet } from '#test/support/requirements.ts';
import { backendOver, hostLinks, type VppBackend } from '#test/vpp/descriptors/backends.ts';
import { startIsolatedVpp } from './vpp-process.ts';

export async function realVpp(): Promise<VppBackend> {
  const { client, namespace, stop } = await startIsolatedVpp();
  const [a, b] = hostLinks;
  const pair = ['ip', 'link', 'add', a, 'type', 'veth', 'peer', 'name', b];
  execFileSync('nsenter', [`--net=${namespace}`, ...pair]);
  return backendOver('VPP', client, stop, { withoutTaps: withoutVhostNet() });
}
