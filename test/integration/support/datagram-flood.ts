/** Datagrams of UDP from one sender, each from another port, as VPP receives them from an interface. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { VppProcess } from './vpp-process.ts';

const FIRST_PORT = 1024;
const SENT_MS = 1000;

export interface Flood {
  /** VPP's name of the interface at which they arrive. */
  readonly interface: string;
  readonly source: string;
  readonly destination: string;
  /** Datagrams, and ports. */
  readonly count: number;
}

export async function flood(vpp: VppProcess, sent: Flood): Promise<void> {
  const { source, destination, count } = sent;
  const ports = `${FIRST_PORT} - ${FIRST_PORT + count - 1} -> 9`;
  const place = `node ip4-input interface ${sent.interface}`;
  await vpp.cli(
    `packet-generator new { name flood limit ${count} size 64-64 ${place} data ` +
      `{ UDP: ${source} -> ${destination} UDP: ${ports} incrementing 8 } }`,
  );
  try {
    await vpp.cli('packet-generator enable-stream flood');
    await sleep(SENT_MS);
  } finally {
    await vpp.cli('packet-generator delete flood');
  }
}

/** VPP's name of the interface by which it reaches a neighbor. */
export async function interfaceTo(vpp: VppProcess, address: string): Promise<string> {
  const text = await vpp.cli('show ip neighbors');
  const found = text.split('\n').map((line) => line.trim().split(/\s+/));
  const name = found.find(([, ip]) => ip === address)?.[4];
  if (name === undefined) throw new Error(`VPP has no neighbor ${address}: ${text}`);
  return name;
}
