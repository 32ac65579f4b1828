/** Captures of VPP. One that is read while it continues is a sequence of slices. */
import type { CaptureSlice } from '#documents/capture.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { BusyError } from '#infra/http/route.ts';
import { parsePcap } from '#infra/pcap/pcap.ts';
import type { PcapTrace } from '#vpp/packets/pcap-trace.ts';

const FILE = 'contiv-capture.pcap';
/** Of a slice: VPP keeps them in its main heap. */
const MAX_PACKETS = 2_000;
const MAX_BYTES_OF_PACKET = 1_600;

export interface CaptureDeps {
  readonly pcapTrace: Pick<PcapTrace, 'begin' | 'end'>;
  readonly clock: Clock;
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
    const { pcapTrace, clock } = this.#deps;
    const words = `rx tx max ${MAX_PACKETS} max-bytes-per-pkt ${MAX_BYTES_OF_PACKET} intfc ${iface}`;
    await pcapTrace.begin(FILE, words);
    let file = Buffer.alloc(0);
    try {
      await clock.sleep(ms);
    } finally {
      file = Buffer.from(await pcapTrace.end(FILE));
    }
    const packets = parsePcap(file).records.length;
    return { packets, isFull: packets >= MAX_PACKETS, pcap: file.toString('base64') };
  }
}
