import type { Flow } from '#documents/flows.ts';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { type CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { FlowRing } from '../flow-ring.ts';
import type { FlowSink } from './flow-sink.ts';

const INTERVAL_MS = 1_000;
/** After a failure. */
const RETRY_MS = 5_000;
/** Changes of one write, and of one turn of the event loop. */
const MAX_OF_WRITE = 500;

export const FlowsExportError = defineError({
  name: 'FlowsExportError',
  code: 'CV_FLOWS_EXPORT',
  isRetriable: true,
  unavailable: 'environment',
  remedy:
    'Make the folder of exportFile writable, with space, or let ipfixCollector be an address that the network of the host reaches. The agent tries again every 5 s; records leave its memory meanwhile when newer ones need their place, and are counted in contiv_flows_not_exported_total.',
});

export interface FlowExporterDeps {
  readonly sink: FlowSink;
  readonly ring: Pick<FlowRing, 'from' | 'next' | 'onDrop'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Gives a sink the records that have changed, in the order of their changes. What it does not take comes again; what leaves
 * the memory before is counted. Records of the time before this process are not exported again.
 */
export class FlowExporter {
  readonly #deps: FlowExporterDeps;
  #next: number;
  #timer: Timer | undefined;
  #isClosed = false;
  #running: Promise<void> = Promise.resolve();
  #missed = 0;
  /** First change behind those that the sink is given now. */
  #given = 0;
  /** Of those that it is given, the ones that have left the memory meanwhile: they cannot come again. */
  #droppedOfGiven = 0;
  #fault: CodedError | undefined;

  constructor(deps: FlowExporterDeps) {
    this.#deps = deps;
    this.#next = deps.ring.next;
    deps.ring.onDrop((number, { flow }) => {
      if (number < this.#next || !isExported(flow)) return;
      if (number < this.#given) this.#droppedOfGiven++;
      else this.#missed++;
    });
  }

  /** The key of flows.conf that names the sink. */
  get name(): string {
    return this.#deps.sink.name;
  }

  get fault(): CodedError | undefined {
    return this.#fault;
  }

  /** Records that have left the memory before the sink has taken their last change. */
  get missed(): number {
    return this.#missed;
  }

  start(): void {
    this.#running = this.#round();
  }

  /** The sink gets what has changed since the last round. */
  async close(): Promise<void> {
    const { sink, log } = this.#deps;
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#running;
    try {
      while (await this.#write());
    } catch (thrown) {
      const reason = errorText(thrown);
      log.warn({ sink: sink.name, reason }, 'the last flows are not exported');
    }
    sink.close();
  }

  async #round(): Promise<void> {
    const { sink, clock, log } = this.#deps;
    try {
      while (!this.#isClosed && (await this.#write())) await clock.turn();
      if (this.#fault) log.info({ sink: sink.name }, 'flows are exported again');
      this.#fault = undefined;
    } catch (thrown) {
      const fault = new FlowsExportError(errorText(thrown), { where: sink.name, cause: thrown });
      const { code, message, remedy } = fault;
      if (!this.#fault) log.warn({ code, error: message, remedy }, 'flows are not exported');
      this.#fault = fault;
    }
    if (this.#isClosed) return;
    const pause = this.#fault ? RETRY_MS : INTERVAL_MS;
    this.#timer = clock.timer(pause, () => {
      this.#running = this.#round();
    });
  }

  /** @returns whether there may be more */
  async #write(): Promise<boolean> {
    const { ring } = this.#deps;
    const flows: Flow[] = [];
    let next = this.#next;
    for (const [number, { flow }] of ring.from(this.#next)) {
      next = number + 1;
      if (isExported(flow)) flows.push(flow);
      if (next - this.#next >= MAX_OF_WRITE) break;
    }
    if (flows.length > 0) await this.#give(flows, next);
    const isMore = next > this.#next;
    this.#next = next;
    return isMore;
  }

  /** @param next the first change behind them */
  async #give(flows: readonly Flow[], next: number): Promise<void> {
    this.#given = next;
    this.#droppedOfGiven = 0;
    try {
      await this.#deps.sink.write(flows);
    } catch (thrown) {
      this.#missed += this.#droppedOfGiven;
      throw thrown;
    } finally {
      this.#given = 0;
    }
  }
}

/** A connection that has just been opened is exported with its bytes: when it is measured, or at its end. */
function isExported({ verdict, ended, measured }: Flow): boolean {
  return verdict !== 'open' || ended !== undefined || measured !== undefined;
}
