import { Buffer } from 'node:buffer';

/** A growing buffer into which messages are encoded one after the other. */
export class Writer {
  bytes: Buffer;
  view: DataView;
  /** Bytes written so far. */
  length = 0;

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacity);
    this.view = viewOf(this.bytes);
  }

  /** Reserves `size` bytes at `position`; this may replace `bytes` and `view`. */
  ensure(position: number, size: number): void {
    const needed = position + size;
    if (needed <= this.bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(bytes, 0, 0, position);
    this.bytes = bytes;
    this.view = viewOf(bytes);
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
