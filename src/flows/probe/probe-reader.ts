import type { Clock, Timer } from '#infra/clock/clock.ts';
import { type CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { FlowProbePort } from '#plugins/controller/api/ports/flow-probe.ts';
import { ProbeDecoder } from './probe-decoder.ts';
import type { OpenProbeSocket, ProbeSocket } from './probe-socket.ts';
import type { ProbedFlows } from './probed-flows.ts';

const INTERVAL_MS = 1_000;
/** A link that is being made has no address for a moment. */
const FAULT_AFTER_MS = 10_000;

export const FlowsProbeError = defineError({
  name: 'FlowsProbeError',
  code: 'CV_FLOWS_PROBE',
  isRetriable: true,
  unavailable: 'environment',
  remedy:
    'Connections of sockets are recorded as ever; those of pods behind a memif are not. With EADDRINUSE another process of the host has UDP port 4740: let it use another one. The agent tries again every second.',
});

export interface ProbeReaderDeps {
  readonly probe: FlowProbePort;
  readonly flows: Pick<ProbedFlows, 'add' | 'settle' | 'displaced'>;
  readonly open: OpenProbeSocket;
  /** Whether ends have names. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Receives what VPP has counted of the flows of interfaces, as long as it is configured to. */
export class ProbeReader {
  readonly #deps: ProbeReaderDeps;
  readonly #decoder = new ProbeDecoder();
  #socket: ProbeSocket | undefined;
  /** Address and port of the socket. */
  #place = '';
  /** VPP's own address. */
  #source = '';
  #failedAt: number | undefined;
  #fault: CodedError | undefined;
  #running: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(deps: ProbeReaderDeps) {
    this.#deps = deps;
  }

  get fault(): CodedError | undefined {
    return this.#fault;
  }

  /** Messages that did not arrive, and conversations that were displaced. */
  get lost(): number {
    return this.#decoder.lost + this.#deps.flows.displaced;
  }

  /** Messages of others than VPP, or that cannot be read. */
  get refused(): number {
    return this.#decoder.refused;
  }

  /** Number of interfaces whose flows VPP counts. */
  get interfaces(): number {
    return this.#deps.probe.probed;
  }

  start(): void {
    this.#running = this.#round();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#running;
    this.#socket?.close();
  }

  async #round(): Promise<void> {
    const { flows, isReady, clock, log } = this.#deps;
    try {
      // what VPP sends before is not read: its records would have no names
      if (isReady()) await this.#follow();
      flows.settle();
      this.#fault = undefined;
      this.#failedAt = undefined;
    } catch (thrown) {
      const now = clock.monotonic();
      this.#failedAt ??= now;
      if (now - this.#failedAt >= FAULT_AFTER_MS) {
        const fault = new FlowsProbeError(errorText(thrown), { cause: thrown });
        const { code, message, remedy } = fault;
        if (!this.#fault) log.warn({ code, error: message, remedy }, 'flows of VPP are not read');
        this.#fault = fault;
      }
    }
    if (this.#isClosed) return;
    this.#timer = clock.timer(INTERVAL_MS, () => {
      this.#running = this.#round();
    });
  }

  async #follow(): Promise<void> {
    const { probe, open } = this.#deps;
    const exporter = probe.exporter();
    const place = exporter === undefined ? '' : `${exporter.address} ${exporter.port}`;
    this.#source = exporter?.source ?? '';
    if (place === this.#place) return;
    this.#socket?.close();
    this.#socket = undefined;
    this.#place = '';
    if (exporter === undefined) return;
    this.#socket = await open(exporter, (bytes, from) => this.#receive(bytes, from));
    this.#place = place;
  }

  #receive(bytes: Buffer, from: string): void {
    const { probe, flows, log } = this.#deps;
    if (from !== this.#source) {
      this.#decoder.refuse();
      return;
    }
    try {
      this.#decoder.decode(bytes, (flow) => {
        // of an interface that is no longer probed, or that an operator probes
        if (probe.isProbed(flow.swIfIndex)) flows.add(flow);
      });
    } catch (thrown) {
      this.#decoder.refuse();
      log.debug({ error: errorText(thrown) }, 'a message of VPP could not be recorded');
    }
  }
}
