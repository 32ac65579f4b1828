/**
 * Replaces each slash in `:authority` by an underscore, in the header blocks of one HTTP/2 connection
 * (HPACK, RFC 7541). gRPC for Go sends the path of a unix socket as `:authority`, and the HTTP/2 of
 * Node.js rejects requests whose authority contains a slash.
 *
 * Client and server stay in step because nothing changes its length: both characters are 1 byte, and
 * 6 bits with Huffman coding. So each string, block and frame keeps its size, and both dynamic tables
 * hold entries of equal sizes at equal positions, and evict the same ones. A later request that refers
 * to the entry gets the value with underscores.
 */
import { walkHuffman } from './huffman.ts';

/** Names of the static table, from index 1. */
const staticNames = `:authority :method :method :path :path :scheme :scheme :status :status :status
  :status :status :status :status accept-charset accept-encoding accept-language accept-ranges accept
  access-control-allow-origin age allow authorization cache-control content-disposition
  content-encoding content-language content-length content-location content-range content-type cookie
  date etag expect expires from host if-match if-modified-since if-none-match if-range
  if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization
  range referer refresh retry-after server set-cookie strict-transport-security transfer-encoding
  user-agent vary via www-authenticate`.split(/\s+/);

const AUTHORITY = ':authority';

/** `:authority` in Huffman code. */
const authorityHuffman = Buffer.from('b83b5339ec327d7f', 'hex');

const SLASH = 0x2f;
const UNDERSCORE = 0x5f;

/** Size of the dynamic table unless the server announces another; Node.js does not by default. */
const TABLE_BYTES = 4096;

/** Size of an entry in addition to its name and value. */
const ENTRY_OVERHEAD = 32;

/** Integers of more octets than that are longer than any block. */
const MAX_INTEGER_OCTETS = 4;

interface Name {
  readonly isAuthority: boolean;
  readonly length: number;
}

interface Entry extends Name {
  readonly size: number;
}

const staticEntries: readonly Name[] = staticNames.map((name) => ({
  isAuthority: name === AUTHORITY,
  length: name.length,
}));

export class HeaderBlocks {
  /** Dynamic table of the connection, newest first. */
  readonly #entries: Entry[] = [];
  #size = 0;
  #maxSize = TABLE_BYTES;
  #block: Buffer = Buffer.alloc(0);
  /** Beyond the end of the block: the block is malformed. */
  #position = 0;

  /**
   * Call it for each block of the connection, in order.
   * @param block changed in place
   * @returns false for a malformed block; its server closes the connection
   */
  rewrite(block: Buffer): boolean {
    this.#block = block;
    this.#position = 0;
    while (this.#position < block.length) this.#field();
    return this.#position === block.length;
  }

  /** One representation of RFC 7541, section 6. */
  #field(): void {
    const first = this.#block[this.#position]!;
    if (first >= 0x80) this.#nameAt(this.#integer(7));
    else if (first >= 0x40) this.#insert(this.#literal(6));
    else if (first >= 0x20) this.#resize(this.#integer(5));
    else this.#literal(4);
  }

  #literal(prefixBits: number): Entry {
    const index = this.#integer(prefixBits);
    const name = index === 0 ? this.#newName() : this.#nameAt(index);
    const value = this.#string(name.isAuthority);
    return { ...name, size: name.length + value + ENTRY_OVERHEAD };
  }

  #nameAt(index: number): Name {
    const name = staticEntries[index - 1] ?? this.#entries[index - 1 - staticEntries.length];
    return name ?? this.#malformed();
  }

  #newName(): Name {
    const start = this.#position;
    const length = this.#string(false);
    const bytes = this.#block.subarray(start + 1, this.#position);
    const isAuthority = bytes.equals(authorityHuffman) || bytes.toString('latin1') === AUTHORITY;
    return { isAuthority: isAuthority && length === AUTHORITY.length, length };
  }

  /** @returns its length without Huffman coding */
  #string(isAuthority: boolean): number {
    const isHuffman = this.#block[this.#position]! >= 0x80;
    const start = this.#position;
    const length = this.#integer(7);
    const bytes = this.#block.subarray(this.#position, this.#position + length);
    this.#position += length;
    if (start >= this.#block.length || this.#position > this.#block.length)
      return this.#malformed().length;
    if (isHuffman) return walkHuffman(bytes, isAuthority) ?? this.#malformed().length;
    if (isAuthority)
      for (const [at, byte] of bytes.entries()) if (byte === SLASH) bytes[at] = UNDERSCORE;
    return length;
  }

  /** RFC 7541, section 5.1. */
  #integer(prefixBits: number): number {
    const limit = (1 << prefixBits) - 1;
    let value = (this.#block[this.#position++] ?? 0) & limit;
    if (value < limit) return value;
    for (let octets = 0; octets < MAX_INTEGER_OCTETS; octets++) {
      const octet = this.#block[this.#position++] ?? 0;
      value += (octet & 0x7f) << (7 * octets);
      if (octet < 0x80) return value;
    }
    return this.#malformed().length;
  }

  #insert(entry: Entry): void {
    this.#evict(this.#maxSize - entry.size);
    if (entry.size > this.#maxSize) return;
    this.#entries.unshift(entry);
    this.#size += entry.size;
  }

  #resize(maxSize: number): void {
    if (maxSize > TABLE_BYTES) this.#malformed();
    this.#maxSize = maxSize;
    this.#evict(maxSize);
  }

  #evict(size: number): void {
    while (this.#size > size && this.#entries.length > 0) this.#size -= this.#entries.pop()!.size;
  }

  #malformed(): Name {
    this.#position = Number.POSITIVE_INFINITY;
    return { isAuthority: false, length: 0 };
  }
}
