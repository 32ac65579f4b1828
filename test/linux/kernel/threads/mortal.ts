/**
 * The thread of the kernel, which ends after a number of its changes (`CV_CHANGES` left, shared by all
 * threads of the process): just before a change reaches the kernel, or just after it was carried out.
 */
import { getEnvironmentData } from 'node:worker_threads';
import { NetlinkSocket } from '#linux/netlink/socket.ts';

/** Left until the end, and whether it is before or after that change. */
const countdown = getEnvironmentData('countdown') as unknown as Int32Array;

const { change } = NetlinkSocket.prototype;
NetlinkSocket.prototype.change = function (request) {
  const left = countdown[0]!--;
  if (left === 1 && countdown[1] === 0) process.exit(1);
  change.call(this, request);
  if (left === 1) process.exit(1);
};

await import('#linux/kernel/thread.ts');
