import { parseIp } from '#models/ip.ts';
import { textOfBytes } from '#vpp/binapi/addresses.ts';
import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import type { Nat44AddDelAddressRange } from '#vpp/binapi/messages.gen.ts';
import type { TableLocks } from './nat44-mappings.ts';
import { NONE, retval } from './retval.ts';

interface PoolAddress {
  readonly address: string;
  readonly vrf: number;
}

function asText({ address, vrf }: PoolAddress): string {
  return `${address} vrf ${vrf}`;
}

/** Address pools of NAT44: for outgoing traffic and for twice-NAT. */
export class AddressPools {
  readonly #tables: TableLocks;
  readonly #onDrop: (address: string) => void;
  readonly #plain: PoolAddress[] = [];
  readonly #twice: PoolAddress[] = [];

  /** @param onDrop called for an address that is removed from either pool */
  constructor(tables: TableLocks, onDrop: (address: string) => void) {
    this.#tables = tables;
    this.#onDrop = onDrop;
  }

  has(address: string): boolean {
    return this.#plain.some((known) => known.address === address);
  }

  clear(): void {
    for (const pool of [this.#plain, this.#twice])
      for (const { address } of [...pool]) this.#drop(address, pool);
  }

  /** @param isEnabled whether the plugin is enabled; otherwise additions are rejected */
  change(request: Nat44AddDelAddressRange, isEnabled: boolean): number {
    const pool = request.flags & NatConfigFlags.NAT_IS_TWICE_NAT ? this.#twice : this.#plain;
    const number = (bytes: Uint8Array) => Buffer.from(bytes).readUInt32BE();
    for (let at = number(request.first_ip_address); at <= number(request.last_ip_address); at++) {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(at);
      const address = textOfBytes(bytes);
      if (request.is_add && !isEnabled) return retval.UNSUPPORTED;
      const failed = request.is_add
        ? this.#add(address, request.vrf_id, pool)
        : this.#drop(address, pool);
      // the changes of the previous addresses stay
      if (failed !== 0) return failed;
    }
    return 0;
  }

  #add(address: string, vrf: number, pool: PoolAddress[]): number {
    if (pool.some((known) => known.address === address)) return retval.VALUE_EXIST;
    if (vrf !== NONE) this.#tables.lock(vrf);
    pool.push({ address, vrf });
    return 0;
  }

  #drop(address: string, pool: PoolAddress[]): number {
    const place = pool.findIndex((known) => known.address === address);
    const found = pool[place];
    if (!found) return retval.NO_SUCH_ENTRY;
    this.#onDrop(address);
    if (found.vrf !== NONE) this.#tables.unlock(found.vrf);
    // VPP moves the last one to the free position
    const last = pool.pop();
    if (last && last !== found) pool[place] = last;
    return 0;
  }

  dump() {
    const details = (flags: number) => (each: PoolAddress) => ({
      ip_address: parseIp(each.address)!,
      flags,
      vrf_id: each.vrf,
    });
    return [
      ...this.#plain.map(details(0)),
      ...this.#twice.map(details(NatConfigFlags.NAT_IS_TWICE_NAT)),
    ];
  }

  snapshot() {
    return {
      pool: this.#plain.map(asText).sort(),
      twiceNatPool: this.#twice.map(asText).sort(),
    };
  }
}
