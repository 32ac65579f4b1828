import type { TObject } from 'typebox';
import Value from 'typebox/value';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type {
  TransactionRequest,
  TransactionResult,
  TransactionSink,
} from '#kvscheduler/api/transaction.ts';
import type {
  EventHandler,
  ResyncContext,
  Undo,
  UpdateContext,
} from '#plugins/controller/api/event-handler.ts';
import { DbResync } from '#plugins/controller/api/events.ts';
import type { ReplaceOptions, Transaction } from '#plugins/controller/api/transaction.ts';
import { type ControllerConfig, controllerSchema } from '#plugins/controller/config.ts';
import {
  Controller,
  type ControllerDeps,
  type ControllerState,
} from '#plugins/controller/controller.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import type { ProcessedEvent } from '#plugins/controller/event-record.ts';

/** A sink that records the requests and returns configured results. */
export class FakeSink implements TransactionSink {
  readonly requests: TransactionRequest[] = [];
  reply: (request: TransactionRequest) => TransactionResult | Promise<TransactionResult> = () => ({
    seqNum: this.requests.length - 1,
    failures: [],
  });

  async commit(request: TransactionRequest): Promise<TransactionResult> {
    this.requests.push(request);
    return this.reply(request);
  }

  record(seqNum: number): object | undefined {
    return this.requests[seqNum] && { SeqNum: seqNum };
  }
}

interface Behavior extends Partial<Omit<EventHandler, 'name'>> {
  /** Called when an update is reverted that has succeeded. */
  readonly revert?: Undo;
}

export function handler(name: string, trace: string[], behavior: Behavior = {}): EventHandler {
  return {
    name,
    handlesEvent: behavior.handlesEvent ?? (() => true),
    resync: async (ctx: ResyncContext) => {
      trace.push(`${name}:resync`);
      await behavior.resync?.(ctx, undefined);
    },
    update: async (ctx: UpdateContext) => {
      trace.push(`${name}:update`);
      const result = await behavior.update?.(ctx, undefined);
      ctx.onRevert(async (reverting) => {
        trace.push(`${name}:revert`);
        await behavior.revert?.(reverting);
      });
      return result;
    },
    ...(behavior.follows !== undefined && { follows: behavior.follows }),
    ...(behavior.describeInternalData && {
      describeInternalData: behavior.describeInternalData,
    }),
  };
}

/** Sets one value, in a group of its own, and commits it although it is unchanged. */
export function put(
  txn: Transaction,
  key: string,
  value: object,
  options: ReplaceOptions = {},
): void {
  txn.replace(key, [{ key, value }], { evenUnchanged: true, ...options });
}

/** Removes the value that the same handler has put. */
export function remove(txn: Transaction, key: string): void {
  txn.replace(key, []);
}

export function controllerConfig(values: Partial<ControllerConfig> = {}): ControllerConfig {
  const config = Value.Default(controllerSchema as TObject, { ...values });
  return config as ControllerConfig;
}

export interface ControllerHarness {
  readonly controller: Controller;
  readonly clock: ManualClock;
  readonly sink: FakeSink;
  readonly desired: DesiredState;
  readonly printed: string[];
  readonly processed: ProcessedEvent[];
  readonly states: [ControllerState, string | undefined][];
}

type ControllerOptions = Partial<Omit<ControllerDeps, 'config'>> & {
  readonly config?: Partial<ControllerConfig>;
};

export function makeController(
  handlers: readonly EventHandler[],
  options: ControllerOptions = {},
): ControllerHarness {
  const clock = new ManualClock();
  const sink = new FakeSink();
  const desired = new DesiredState();
  const printed: string[] = [];
  const processed: ProcessedEvent[] = [];
  const states: [ControllerState, string | undefined][] = [];
  const controller = new Controller({
    handlers,
    desired,
    sink,
    merge: (_key, base, over) => ({ ...base, ...over }),
    southboundGeneration: () => 1,
    clock,
    random: seededRandom(1),
    log: { ...silentLogger, isLevelEnabled: () => true },
    handlerLog: () => silentLogger,
    reportState: (state, error) => states.push([state, error?.message]),
    print: (text) => printed.push(text),
    onProcessed: (one) => processed.push(one),
    ...options,
    config: controllerConfig(options.config),
  });
  controller.start();
  return { controller, clock, sink, desired, printed, processed, states };
}

/** Kinds of all events so far. */
export function eventKindsOf(bench: ControllerHarness): string[] {
  return bench.controller.history.records.map((record) => record.id);
}

/** A controller after its startup resync. */
export async function startedController(
  handlers: readonly EventHandler[],
  options: ControllerOptions = {},
): Promise<ControllerHarness> {
  const bench = makeController(handlers, options);
  bench.controller.push(emptyResync);
  await settle();
  return bench;
}

export const emptyResync = DbResync.event({ local: false, kubeState: {}, externalConfig: {} });

/** Lets everything that can run without time passing run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
