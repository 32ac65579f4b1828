/**
 * Maps refusals to errno names. `ip` prints strerror's text, or only the kernel's own message if it sends
 * one. Known messages are listed with their errno.
 */
const texts: Readonly<Record<string, string>> = {
  'Operation not permitted': 'EPERM',
  'No such file or directory': 'ENOENT',
  'No such process': 'ESRCH',
  'No such device or address': 'ENXIO',
  'Directory nonexistent': 'ENOENT', // wording of dash
  'Permission denied': 'EACCES',
  'Device or resource busy': 'EBUSY',
  'File exists': 'EEXIST',
  'No such device': 'ENODEV',
  'Invalid argument': 'EINVAL',
  'Numerical result out of range': 'ERANGE',
  'Operation not supported': 'EOPNOTSUPP',
  'Address already in use': 'EADDRINUSE',
  'Cannot assign requested address': 'EADDRNOTAVAIL',
  'Network is down': 'ENETDOWN',
  'Network is unreachable': 'ENETUNREACH',
  'No route to host': 'EHOSTUNREACH',
  'No buffer space available': 'ENOBUFS',
  'Cannot allocate memory': 'ENOMEM',
  'Read-only file system': 'EROFS',

  'ipv4: Address already assigned': 'EEXIST',
  'ipv6: address already assigned': 'EEXIST',
  'ipv4: Address not found': 'EADDRNOTAVAIL',
  'ipv6: address not found': 'EADDRNOTAVAIL',
  'ipv6: IPv6 is disabled on this device': 'EACCES',
  // of a neighbor
  'IPv6 is disabled on this device': 'EINVAL',
  'IPv6 is disabled on nexthop device': 'EACCES',
  'Nexthop has invalid gateway': 'ENETUNREACH',
  'Nexthop device is not up': 'ENETDOWN',
  'Device for nexthop is not up': 'ENETDOWN',
  'FIB table does not exist': 'ESRCH',
  'ipv4: FIB table does not exist': 'ESRCH',
  'Route with host scope can not have a gateway': 'EINVAL',
  'Nexthop has invalid scope': 'EINVAL',
  'Gateway can not be a local address': 'EINVAL',
  'Invalid gateway address': 'EINVAL',
  'The interface netns is immutable': 'EINVAL',
  'Egress device can not be loopback device for this route': 'EINVAL',
  'Invalid prefix for given prefix length': 'EINVAL',
  'An interface with the same name exists in the target netns': 'EEXIST',
  'mtu less than device minimum': 'EINVAL',
  'mtu greater than device maximum': 'EINVAL',
};

/** @param text one or more lines of `ip`, `sh` or `nsenter` about one refusal */
export function errnoOf(text: string): string | undefined {
  for (const line of text.split('\n')) {
    if (/^(Cannot find device "|Device ".*" does not exist)/.test(line)) return 'ENODEV';
    if (/Unable to use '.*' for the new interface name in the target netns/.test(line))
      return 'EEXIST';
    const sentence = /^(?:Error|RTNETLINK answers): (.*?)\.?$/.exec(line)?.[1];
    const last = line.slice(line.lastIndexOf(': ') + 2).replace(/\.$/, '');
    const known = (sentence && texts[sentence]) ?? texts[last];
    if (known) return known;
  }
  return undefined;
}
