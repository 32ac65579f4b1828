/** Addresses as numbers, to match them with networks. */

interface Parsed {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

const widths = { 4: 32, 6: 128 } as const;

/** A network that addresses are held against. */
export interface Network {
  readonly length: number;
  contains(address: string): boolean;
}

/** @param cidr an address without length is a network of one */
export function network(cidr: string): Network {
  const [address = '', text] = cidr.split('/');
  const { family, bits } = parse(address);
  const width = widths[family];
  const length = text === undefined ? width : Number(text);
  const shift = BigInt(width - length);
  return {
    length,
    contains: (other) => {
      const parsed = parse(other);
      return parsed.family === family && parsed.bits >> shift === bits >> shift;
    },
  };
}

/** The address of a CIDR. */
export function plain(cidr: string): string {
  return cidr.replace(/\/.*/, '');
}

/** Whether two texts are the same address. */
export function sameAddress(a: string, b: string): boolean {
  const [one, other] = [parse(plain(a)), parse(plain(b))];
  return one.family === other.family && one.bits === other.bits;
}

function parse(address: string): Parsed {
  if (!address.includes(':')) return { family: 4, bits: BigInt(bitsOfFour(address)) };
  const [head = '', tail] = address.replace(/%.*/, '').split('::');
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return { family: 6, bits: all.reduce((sum, part) => (sum << 16n) + BigInt(`0x${part}`), 0n) };
}

function bitsOfFour(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Groups of 16 bits in hex; the last two may be written as an address of IPv4. */
function groups(text: string): string[] {
  return text
    .split(':')
    .filter((group) => group !== '')
    .flatMap((group) => {
      if (!group.includes('.')) return [group];
      const bits = bitsOfFour(group);
      return [Math.floor(bits / 65536), bits % 65536].map((half) => half.toString(16));
    });
}
