/**
 * The event loop alone: events per second through eight handlers with empty transactions, with
 * history and metrics, log boxes written to /dev/null, with and without recording; the memory of a
 * history record; the time to serve the last twenty of 100,000 records.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Registry } from 'prom-client';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { parseConfig } from '#infra/config/load.ts';
import { silentLogger } from '#infra/log/log.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import { DbResync } from '#plugins/controller/api/events.ts';
import { controllerSchema } from '#plugins/controller/config.ts';
import { Controller, type ControllerDeps } from '#plugins/controller/controller.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import { ControllerMetrics } from '#plugins/controller/metrics.ts';
import { Recorder } from '#plugins/controller/recording/recorder.ts';
import { controllerRoutes } from '#plugins/controller/routes.ts';

export const NAME = 'loop: events through eight handlers';

type Print = (line: string) => void;

const HANDLERS = 8;
const BATCH = 500;
const EVENTS = 20_000;
const ROUNDS = 5;
const RECORDS = 100_000;
/** Enough for all records: the limit is not measured here. */
const HISTORY_MIB = 4096;

const Note = defineEvent<{ readonly n: number }>({
  id: 'bench-note',
  blocking: false,
  name: 'Bench Note',
  describe: ({ n }) => `Bench Note\n* number: ${n}`,
  method: EventMethod.Update,
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function handler(at: number): EventHandler {
  return {
    name: `handler-${at}`,
    handlesEvent: () => true,
    resync: async () => undefined,
    update: async () => ({}),
  };
}

/** Standard output of an agent, redirected to /dev/null. */
function devNull(): { print: (text: string) => void; close: () => void } {
  const file = openSync('/dev/null', 'w');
  return { print: (text) => void writeSync(file, text), close: () => closeSync(file) };
}

type Tap = (deps: ControllerDeps) => ControllerDeps;

function makeController(print: (text: string) => void, tap: Tap = (deps) => deps): Controller {
  const yaml = `eventHistorySizeLimit: ${HISTORY_MIB}\n`;
  const { value: config } = parseConfig(controllerSchema, yaml, 'bench');
  const metrics: ControllerMetrics = new ControllerMetrics(new Registry(), () => controller);
  const deps: ControllerDeps = {
    config,
    handlers: Array.from({ length: HANDLERS }, (_, at) => handler(at)),
    desired: new DesiredState(),
    sink: { commit: async () => ({ seqNum: 0, failures: [] }), record: () => undefined },
    merge: (_key, _base, over) => over,
    southboundGeneration: () => 1,
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    handlerLog: () => silentLogger,
    reportState: () => undefined,
    print,
    onProcessed: metrics.observe,
  };
  const controller: Controller = new Controller(tap(deps));
  controller.start();
  controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig: {} }));
  return controller;
}

async function pushAll(controller: Controller, count: number): Promise<void> {
  for (let n = 0; n < count; ) {
    for (let i = 0; i < BATCH && n < count; i++) controller.push(Note.event({ n: n++ }));
    while (!controller.isIdle) await turn();
  }
}

/** The minimum of every loop: awaits eight handlers and writes two boxes of five lines. */
async function reference(print: (text: string) => void, count: number): Promise<void> {
  const handlers = Array.from({ length: HANDLERS }, (_, at) => handler(at));
  const box = `${'>'.repeat(130)}\n`.repeat(5);
  for (let n = 0; n < count; n++) {
    print(box);
    for (const { update } of handlers) await update(undefined as never, undefined);
    print(box);
    if (n % BATCH === 0) await turn();
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

interface Rate {
  /** Events per second of wall-clock time, and of processor time of the main thread. */
  readonly wall: number;
  readonly cpu: number;
}

async function rate(count: number, run: () => Promise<void>): Promise<Rate> {
  const start = performance.now();
  const startCpu = threadMs();
  await run();
  const cpu = threadMs() - startCpu;
  return { wall: (count / (performance.now() - start)) * 1000, cpu: (count / cpu) * 1000 };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1]!;

export async function run(print: Print): Promise<void> {
  await throughput(print);
  await recordSize(print);
}

async function throughput(print: Print): Promise<void> {
  const out = devNull();
  const controller = makeController(out.print);
  const folder = mkdtempSync(join(tmpdir(), 'bench-runs-'));
  const recorder = new Recorder({
    folder,
    version: 'bench',
    label: 'bench',
    settings: {},
    clock: systemClock,
    log: silentLogger,
  });
  const tapped = makeController(out.print, (deps) => recorder.wrap(deps));
  const loop: Rate[] = [];
  const minimum: Rate[] = [];
  const recorded: Rate[] = [];
  await pushAll(controller, EVENTS);
  await pushAll(tapped, EVENTS);
  await reference(out.print, EVENTS);
  for (let round = 0; round < ROUNDS; round++) {
    loop.push(await rate(EVENTS, () => pushAll(controller, EVENTS)));
    minimum.push(await rate(EVENTS, () => reference(out.print, EVENTS)));
    recorded.push(await rate(EVENTS, () => pushAll(tapped, EVENTS)));
  }
  await controller.close({ cleanup: false });
  await tapped.close({ cleanup: false });
  await recorder.close();
  rmSync(folder, { recursive: true });
  out.close();
  const show = (rates: readonly Rate[]) => {
    const [wall, cpu] = [median(rates.map((r) => r.wall)), median(rates.map((r) => r.cpu))];
    return `${wall.toFixed(0)} per second, ${cpu.toFixed(0)} per second of CPU time`;
  };
  print(`events, ${HANDLERS} handlers, history and metrics on: ${show(loop)} (target: 20000)`);
  print(`reference, only the awaits and writes: ${show(minimum)}`);
  const ratio = median(loop.map((r) => r.cpu)) / median(minimum.map((r) => r.cpu));
  print(`ratio ${ratio.toFixed(2)}`);
  print(`the same events, recorded: ${show(recorded)}`);
  const cost = median(loop.map((r) => r.cpu)) / median(recorded.map((r) => r.cpu));
  print(`a recorded event takes ${cost.toFixed(2)} times the CPU time`);
}

async function recordSize(print: Print): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const controller = makeController(() => undefined);
  await pushAll(controller, 1000);
  gc();
  const before = process.memoryUsage().heapUsed;
  const estimated = controller.history.bytes;
  await pushAll(controller, RECORDS - 1000);
  gc();
  const count = RECORDS - 1000;
  const bytes = (process.memoryUsage().heapUsed - before) / count;
  const estimate = (controller.history.bytes - estimated) / count;
  print(
    `a record with ${HANDLERS} handlers: ${bytes.toFixed(0)} bytes, ` +
      `estimated ${estimate.toFixed(0)}; 64 MiB hold ${Math.floor((64 * 2 ** 20) / estimate)}`,
  );
  const [history] = controllerRoutes({
    clock: systemClock,
    history: controller.history,
    verification: controller.verification,
    verificationEnabled: false,
    transaction: () => undefined,
    requestResync: async () => undefined,
  });
  const times: number[] = [];
  for (let round = 0; round < 50; round++) {
    const start = threadMs();
    const { body } = await history!.handle({
      query: { last: ['20'] },
      params: {},
      body: undefined,
    });
    await text(body as Readable);
    times.push(threadMs() - start);
  }
  const ms = median(times).toFixed(2);
  const worst = Math.max(...times).toFixed(2);
  const kept = controller.history.records.length;
  print(`last=20 of ${kept}: median ${ms} ms of CPU time, maximum ${worst} ms (target: 10)`);
  await controller.close({ cleanup: false });
}
