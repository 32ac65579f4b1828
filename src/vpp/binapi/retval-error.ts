import { CodedError } from '#infra/errors/errors.ts';

/** VPP answered a request with a negative `retval`. */
export class VppRefusedError extends CodedError {
  readonly code = 'CV_VPP_REFUSED';
  readonly remedy =
    'The value under this key was not applied. docs/errors.md explains the retvals.';
  override readonly name = 'VppRefusedError';
  readonly vppMessage: string;
  readonly retval: number;

  constructor(messageName: string, retval: number) {
    super(`VPP answered ${retval} (${retvalText(retval)})`, { where: messageName });
    this.vppMessage = messageName;
    this.retval = retval;
  }
}

/** Descriptions of the return values of the used messages, by their numbers in vnet/error.h. */
const retvals: Readonly<Record<number, string>> = {
  [-1]: 'unspecified error',
  [-2]: 'no such interface index',
  [-3]: 'no such FIB or VRF',
  [-6]: 'no such entry',
  [-7]: 'invalid value',
  [-9]: 'not implemented',
  [-10]: 'no such second interface index',
  [-11]: 'system call error 1',
  [-12]: 'system call error 2',
  [-13]: 'system call error 3',
  [-14]: 'system call error 4',
  [-15]: 'system call error 5',
  [-30]: 'feature disabled by the configuration of VPP',
  [-31]: 'invalid registration',
  [-50]: 'next hop is not in the FIB',
  [-51]: 'unknown destination',
  [-52]: 'route without paths',
  [-53]: 'next hop not found',
  [-55]: 'invalid VLAN',
  [-56]: 'VLAN sub-interface exists already',
  [-57]: 'invalid source address',
  [-58]: 'invalid destination address',
  [-60]: 'address is not on the interface',
  [-61]: 'address cannot be deleted',
  [-62]: 'IPv6 is not enabled',
  [-65]: 'no such table',
  [-68]: 'sub-interface exists already',
  [-71]: 'invalid interface',
  [-72]: 'invalid number of VLAN tags',
  [-73]: 'invalid argument',
  [-74]: 'interface is in another state',
  [-75]: 'tunnel exists already',
  [-79]: 'interface exists already',
  [-81]: 'value exists already',
  [-82]: 'source and destination are the same',
  [-88]: 'prefix has host bits set',
  [-89]: 'no such worker thread',
  [-97]: 'invalid address family',
  [-105]: 'address in use',
  [-106]: 'address not in use',
  [-107]: 'queue is full',
  [-114]: 'interface has an address',
  [-116]: 'entry exists already',
  [-119]: 'bridge domain exists already',
  [-120]: 'bridge domain in use',
  [-121]: 'bridge domain cannot be changed',
  [-122]: 'bridge domain ID too large',
  [-123]: 'no such sub-interface',
  [-125]: 'no such queue',
  [-126]: 'not supported',
  [-127]: 'duplicate address',
  [-142]: 'ACL in use (inbound)',
  [-143]: 'ACL in use (outbound)',
  [-144]: 'initialization failed',
  [-145]: 'netlink error',
  [-147]: 'instance in use',
  [-149]: 'ACL in use (lookup context)',
  [-151]: 'not an Ethernet interface',
  [-152]: 'bridge domain has a BVI already',
  [-153]: 'invalid protocol',
  [-155]: 'resource in use',
  [-157]: 'path of another protocol',
  [-160]: 'nothing changed',
  [-162]: 'limit exceeded',
  [-165]: 'again',
  [-167]: 'busy',
  [-168]: 'bug in VPP',
  [-169]: 'feature already disabled',
  [-170]: 'feature already enabled',
  [-171]: 'invalid prefix length',
};

export function retvalText(retval: number): string {
  return retvals[retval] ?? 'unknown return value';
}
