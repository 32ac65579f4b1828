/**
 * Captures of VPP (`pcap trace`). VPP collects packets in its memory, and writes them to a file when the capture ends, so
 * a capture that is read while it continues is a sequence of slices.
 */
import { constants } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import type { CaptureSlice } from '#documents/capture.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError } from '#infra/errors/errors.ts';
import { BusyError } from '#infra/http/route.ts';
import { parsePcap } from '#infra/pcap/pcap.ts';
import type { VppClient } from '#vpp/binapi/api.ts';

/** VPP does not capture packets, or the agent cannot read its file. */
export const CaptureError = defineError({
  name: 'CaptureError',
  code: 'CV_CAPTURE',
  remedy:
    'Check with netctl vppcli NODE pcap trace status. The agent reads the file of VPP in /proc/PID/root/tmp: its pod needs hostPID and privileges, as the manifest has them.',
});

/** VPP accepts names in /tmp only. */
const FILE = 'contiv-capture.pcap';
/** Of a slice: VPP keeps them in its main heap. */
const MAX_PACKETS = 2_000;
const MAX_BYTES_OF_PACKET = 1_600;

export interface CaptureDeps {
  readonly client: VppClient;
  readonly clock: Clock;
  /** The root folder of a process. */
  readonly rootOf: (pid: number) => string;
}

export class Capture {
  readonly #deps: CaptureDeps;
  #isBusy = false;

  constructor(deps: CaptureDeps) {
    this.#deps = deps;
  }

  /**
   * @param iface VPP's name of the interface, or `any`
   * @throws BusyError, CaptureError, and errors of VPP
   */
  async slice(iface: string, ms: number): Promise<CaptureSlice> {
    if (this.#isBusy) throw new BusyError('VPP has one capture at a time, and another one runs');
    this.#isBusy = true;
    try {
      return await this.#slice(iface, ms);
    } finally {
      this.#isBusy = false;
    }
  }

  async #slice(iface: string, ms: number): Promise<CaptureSlice> {
    const { client, clock, rootOf } = this.#deps;
    const { vpe_pid } = await client.request('control_ping', {});
    const path = `${rootOf(vpe_pid)}/tmp/${FILE}`;
    // A file, or a capture, that an agent has left which was killed.
    await this.#end();
    await rm(path, { force: true });
    await this.#cli(
      `pcap trace rx tx max ${MAX_PACKETS} max-bytes-per-pkt ${MAX_BYTES_OF_PACKET} intfc ${iface} file ${FILE}`,
    );
    try {
      await clock.sleep(ms);
    } finally {
      await this.#end();
    }
    // everyone may write to /tmp of a host: no link of another one is followed
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
    const file = await readFile(path, { flag }).catch((thrown: NodeJS.ErrnoException) => {
      // VPP writes none without a packet.
      if (thrown.code === 'ENOENT') return Buffer.alloc(0);
      throw new CaptureError(thrown.message, { where: path, cause: thrown });
    });
    await rm(path, { force: true });
    const packets = parsePcap(file).records.length;
    return { packets, isFull: packets >= MAX_PACKETS, pcap: file.toString('base64') };
  }

  /** VPP fails at the end of a capture without packets, which it has ended then, and of one that has ended itself. */
  async #end(): Promise<void> {
    if (!(await this.#isRunning())) return;
    await this.#cli('pcap trace off').catch(async (thrown: unknown) => {
      if (await this.#isRunning()) throw thrown;
    });
  }

  async #isRunning(): Promise<boolean> {
    return /capture enabled/.test(await this.#cli('pcap trace status'));
  }

  /** These commands do not wait, so they may run over the binary API. */
  async #cli(cmd: string): Promise<string> {
    return (await this.#deps.client.request('cli_inband', { cmd })).reply;
  }
}
