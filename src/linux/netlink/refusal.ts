import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';

/** Linux has one number for two names; the kernel and its documents use this one, Node.js the other. */
const { EOPNOTSUPP } = constants.errno;

/** The kernel refused a request or a system call. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** Undefined if the number has no name. */
  readonly errno: string | undefined;

  /** @param text the kernel's own, if it sent one; otherwise that of the number */
  constructor(number: number, text?: string) {
    const [name, usual] = getSystemErrorMap().get(-number) ?? [undefined, `error ${number}`];
    const errno = number === EOPNOTSUPP ? 'EOPNOTSUPP' : name;
    super(`${text ?? usual}${errno === undefined ? '' : ` (${errno})`}`);
    this.errno = errno;
  }
}
