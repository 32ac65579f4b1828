import { type IpBytes, parseMac } from '#models/ip.ts';
import { type Interfaces, isEthernet, type SimInterface } from './interfaces.ts';
import { retval } from './retval.ts';

interface Link {
  /** Undefined: VPP has chosen one, and not from the MAC. */
  address: IpBytes | undefined;
  locks: number;
}

/**
 * IPv6 link-local addresses. An interface has one while IPv6 is enabled on it. A request replaces it, but
 * no dump contains it, and it cannot be deleted.
 */
export class LinkLocalAddresses {
  readonly #links = new Map<number, Link>();
  readonly #crash: (why: string) => void;

  /** @param crash VPP crashes when one is deleted from an interface without IPv6 */
  constructor(interfaces: Interfaces, crash: (why: string) => void) {
    this.#crash = crash;
    interfaces.onRemove(({ index }) => this.#links.delete(index));
  }

  /** For each other IPv6 address of the interface. */
  lock(iface: SimInterface): void {
    this.#enable(iface, undefined);
  }

  unlock({ index }: SimInterface): void {
    const link = this.#links.get(index);
    if (link && --link.locks === 0) this.#links.delete(index);
  }

  set(iface: SimInterface, address: IpBytes): number {
    const link = this.#links.get(iface.index);
    if (link) link.address = address;
    else this.#enable(iface, address);
    return 0;
  }

  refuseDeletion({ index }: SimInterface, address: IpBytes): number {
    const link = this.#links.get(index);
    if (!link) this.#crash('link-local address of an interface without IPv6');
    const isOwn = link?.address && Buffer.compare(link.address, address) === 0;
    return isOwn ? retval.ADDRESS_NOT_DELETABLE : retval.ADDRESS_NOT_FOUND_FOR_INTERFACE;
  }

  #enable(iface: SimInterface, address: IpBytes | undefined): void {
    const link = this.#links.get(iface.index);
    if (link) link.locks++;
    else this.#links.set(iface.index, { address: address ?? fromMac(iface), locks: 1 });
  }
}

function fromMac(iface: SimInterface): IpBytes | undefined {
  const mac = isEthernet(iface) ? parseMac((iface.sup ?? iface).mac) : undefined;
  if (mac === undefined) return undefined;
  const [first = 0, ...rest] = mac;
  // the identifier of RFC 4291, appendix A
  const host = [first ^ 2, ...rest.slice(0, 2), 0xff, 0xfe, ...rest.slice(2)];
  return Uint8Array.from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, ...host]);
}
