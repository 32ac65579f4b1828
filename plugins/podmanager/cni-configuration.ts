/**
 * The CNI configuration of the container runtime: a node is Ready as soon as the file exists, so it is written when
 * pods can be attached. At a start without VPP, for example after a reboot, that of an earlier time is removed. It
 * stays where VPP runs: the pods of the node have their network, and a node that is not Ready loses them.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { StatusCheck } from '#infra/status/status.ts';

export const CniConfigurationError = defineError({
  name: 'CniConfigurationError',
  code: 'CV_CNI_CONFIGURATION',
  remedy:
    'Check that the files of CNI_CONFIG_SOURCE and CNI_CONFIG_TARGET are in volumes of the agent, and that the target can be written. It is tried again.',
});

/** Between two looks at what has no event: readiness, and a file that could not be written. */
const RETRY_MS = 500;

export interface CniConfigurationDeps {
  readonly source: string;
  readonly target: string;
  /** Whether pods can be attached. */
  readonly isReady: () => boolean;
  readonly isVppRunning: () => Promise<boolean>;
  readonly status: Pick<StatusCheck, 'registerProblem'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export function cniConfiguration(deps: CniConfigurationDeps): Component {
  const { source, target, clock, log } = deps;
  const stopping = new AbortController();
  let problem: string | undefined;
  let installing = Promise.resolve();
  deps.status.registerProblem('cni-configuration', 'readiness', () => problem);

  async function attempt(what: string, action: () => Promise<void>): Promise<boolean> {
    try {
      await action();
      problem = undefined;
      return true;
    } catch (cause) {
      const error = new CniConfigurationError(`cannot ${what} the CNI configuration`, {
        where: target,
        cause,
      });
      // once: it is tried again until it succeeds
      if (problem === undefined) log.error({ err: error }, error.message);
      problem = error.message;
      return false;
    }
  }

  async function install(): Promise<void> {
    while (!(deps.isReady() && (await attempt('write', write)))) {
      if (stopping.signal.aborted) return;
      await clock.sleep(RETRY_MS, stopping.signal).catch(() => undefined);
    }
  }

  async function write(): Promise<void> {
    const text = await readFile(source, 'utf8');
    const old = await readFile(target, 'utf8').catch(() => undefined);
    if (old === text) return;
    // at once: the runtime watches the folder
    await writeFile(`${target}.new`, text);
    await rename(`${target}.new`, target);
    log.info({ path: target }, 'wrote the CNI configuration: pods can be attached');
  }

  return {
    name: 'CNI configuration',
    init: async () => {
      if (await deps.isVppRunning()) return;
      await attempt('remove', () => rm(target, { force: true }));
    },
    afterInit: () => {
      installing = install();
    },
    close: async () => {
      stopping.abort();
      await installing;
    },
  };
}
