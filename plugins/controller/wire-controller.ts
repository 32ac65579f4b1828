/** Wiring of the event loop: its status, its metrics, and its recording. */

import type { Registry } from 'prom-client';
import type { Loggers } from '#infra/log/loggers.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';
import type { FailedValue } from '#kvscheduler/api/transaction.ts';
import { Controller, type ControllerDeps } from './controller.ts';
import type { ProcessedEvent } from './event-record.ts';
import { ControllerMetrics } from './metrics.ts';
import { problemsText, valueProblems } from './problems.ts';
import { Recorder, type RecorderOptions } from './recording/recorder.ts';

export interface ControllerWiringDeps
  extends Omit<ControllerDeps, 'log' | 'handlerLog' | 'reportState' | 'onProcessed' | 'observer'> {
  /** Identifies the agent in a recording. */
  readonly recorded: Pick<RecorderOptions, 'version' | 'label' | 'settings'>;
  readonly registry: Registry;
  readonly status: StatusCheck;
  readonly loggers: Loggers;
  /** Called after each event. */
  readonly onProcessed: (processed: ProcessedEvent) => void;
  /** Values that are not configured because of an error. */
  readonly failedValues: () => Iterable<FailedValue>;
}

export interface WiredController {
  readonly controller: Controller;
  readonly component: Component;
}

export function wireController(wiring: ControllerWiringDeps): WiredController {
  const { recorded, registry, status, loggers, failedValues, onProcessed, ...rest } = wiring;
  const metrics: ControllerMetrics = new ControllerMetrics(registry, () => controller);
  const recorder = createRecorder(wiring);
  const deps: ControllerDeps = {
    ...rest,
    log: loggers.get('controller'),
    handlerLog: (handler) => loggers.get(handler),
    reportState: status.register('controller', 'liveness'),
    onProcessed: (processed) => {
      metrics.observe(processed);
      onProcessed(processed);
    },
  };
  const controller: Controller = new Controller(recorder ? recorder.wrap(deps) : deps);
  // From the wiring: a recorder counts the calls of the event loop.
  const generation = wiring.southboundGeneration;
  status.registerProblem('configuration', 'state', () =>
    problemsText([...controller.problems(generation()), ...valueProblems(failedValues())]),
  );
  return {
    controller,
    component: {
      name: 'controller',
      init: () => controller.start(),
      close: async () => {
        await controller.close({ cleanup: false });
        await recorder?.close();
      },
    },
  };
}

/** Undefined unless the configuration sets `record-run`. */
function createRecorder(wiring: ControllerWiringDeps): Recorder | undefined {
  const { config, recorded, clock, loggers } = wiring;
  const folder = config['record-run'];
  if (folder === '') return undefined;
  return new Recorder({ ...recorded, folder, clock, log: loggers.get('recording') });
}
