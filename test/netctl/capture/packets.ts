/** Frames and pcap files for tests. */

const MACS = '020000000001020000000002';

function uint16(value: number): string {
  return value.toString(16).padStart(4, '0');
}

function bytesOf(address: string): string {
  return Buffer.from(address.split('.').map(Number)).toString('hex');
}

export function ip4Frame(
  from: string,
  to: string,
  protocol: number,
  ports: readonly [number, number] = [0, 0],
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const segment = `${uint16(ports[0])}${uint16(ports[1])}00000000`;
  const head = `450000280000000040${protocol.toString(16).padStart(2, '0')}0000`;
  const text = `${MACS}0800${head}${bytesOf(from)}${bytesOf(to)}${segment}`;
  return Buffer.concat([Buffer.from(text, 'hex'), payload]);
}

/** In a VXLAN tunnel. */
export function tunneled(frame: Buffer): Buffer {
  const payload = Buffer.concat([Buffer.alloc(8), frame]);
  return ip4Frame('192.168.16.1', '192.168.16.2', 17, [40_000, 4789], payload);
}

export function pcapOf(frames: readonly Buffer[]): Buffer {
  const header = Buffer.from('d4c3b2a1020004000000000000000000ffff000001000000', 'hex');
  const records = frames.map((frame) => {
    const head = Buffer.alloc(16);
    head.writeUInt32LE(frame.length, 8);
    head.writeUInt32LE(frame.length, 12);
    return Buffer.concat([head, frame]);
  });
  return Buffer.concat([header, ...records]);
}
