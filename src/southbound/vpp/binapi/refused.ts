import { CodedError } from '#infra/errors/errors.ts';

/** VPP answered a request with a negative `retval`. */
export class ErrVppRefused extends CodedError {
  readonly code = 'CV_VPP_REFUSED';
  readonly remedy =
    'Look the retval up in docs/errors.md; the value under this key was not applied.';
  override readonly name = 'ErrVppRefused';
  readonly vppMessage: string;
  readonly retval: number;

  constructor(messageName: string, retval: number) {
    super(`VPP answered ${retval} (${retvalText(retval)})`, { where: messageName });
    this.vppMessage = messageName;
    this.retval = retval;
  }
}

/** What the return values mean that VPP gives to the messages used here (vnet/error.h numbers). */
const retvals: Readonly<Record<number, string>> = {
  [-1]: 'unspecified error',
  [-2]: 'no such interface index',
  [-3]: 'no such FIB or VRF',
  [-6]: 'no such entry',
  [-7]: 'invalid value',
  [-9]: 'not implemented',
  [-11]: 'system call error 1',
  [-12]: 'system call error 2',
  [-13]: 'system call error 3',
  [-14]: 'system call error 4',
  [-31]: 'invalid registration',
  [-65]: 'no such table',
  [-68]: 'sub-interface exists already',
  [-71]: 'invalid interface',
  [-75]: 'tunnel exists already',
  [-79]: 'interface exists already',
  [-81]: 'value exists already',
  [-82]: 'source and destination are the same',
  [-105]: 'address in use',
  [-116]: 'entry exists already',
  [-119]: 'bridge domain exists already',
  [-120]: 'bridge domain in use',
  [-121]: 'bridge domain cannot be changed',
  [-126]: 'not supported',
  [-127]: 'duplicate address',
  [-142]: 'ACL in use (inbound)',
  [-143]: 'ACL in use (outbound)',
  [-147]: 'instance in use',
  [-149]: 'ACL in use (lookup context)',
  [-152]: 'bridge domain has a BVI already',
  [-157]: 'path of another protocol',
  [-160]: 'nothing changed',
  [-162]: 'limit exceeded',
  [-165]: 'again',
  [-169]: 'feature already disabled',
  [-170]: 'feature already enabled',
};

export function retvalText(retval: number): string {
  return retvals[retval] ?? 'unknown return value';
}
