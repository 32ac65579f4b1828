import assert from 'node:assert/strict';
import { isReading } from '#test/descriptors/compliance/faulty-client.ts';
import type { VppProcess } from './vpp-process.ts';

/** Far more than a test sends. */
const SIZE = 200_000;

/** Of the memory client, which VPP's own trace contains. */
const HOUSEKEEPING = /^(memclnt_keepalive|sockclnt_\w+|want_\w+)$/;

/** The messages that VPP itself receives, of all clients. */
export class MessageTrace {
  readonly #vpp: VppProcess;

  constructor(vpp: VppProcess) {
    this.#vpp = vpp;
  }

  async start(): Promise<void> {
    await this.#vpp.cli('api trace free');
    await this.#vpp.cli(`api trace on nitems ${SIZE}`);
  }

  /** @returns names of messages: those that may change something, with their text, and the others */
  async stop(): Promise<{ readonly changes: readonly string[]; readonly reads: Set<string> }> {
    await this.#vpp.cli('api trace off');
    assert.match(await this.#vpp.cli('api trace status'), /has not wrapped/);
    const dump = await this.#vpp.cli('api trace dump');
    const changes: string[] = [];
    const reads = new Set<string>();
    for (const text of dump.split(/^(?=vl_api_\w+_t:)/m)) {
      const name = /^vl_api_(\w+)_t:/.exec(text)?.[1];
      if (name === undefined) continue;
      if (isRead(name, text)) reads.add(name);
      else changes.push(text);
    }
    return { changes, reads };
  }
}

function isRead(name: string, text: string): boolean {
  if (name === 'cli_inband') return /cmd: "?show /.test(text);
  return /_(dump|dump_v2|get)$/.test(name) || isReading(name) || HOUSEKEEPING.test(name);
}
