/** The log file: one line per call. */
import { appendFileSync } from 'node:fs';
import type { Clock } from '#infra/clock/clock.ts';
import type { Outcome } from './run-cni.ts';

/** @param start of the call, in monotonic milliseconds of the clock */
export function logCall(
  environment: NodeJS.ProcessEnv,
  { command, network, failure }: Outcome,
  clock: Clock,
  start: number,
): void {
  if (!network) return;
  const { CNI_CONTAINERID: container, CNI_IFNAME: ifname, CNI_ARGS: args } = environment;
  const line = JSON.stringify({
    time: new Date(clock.now()).toISOString(),
    level: failure ? 'error' : 'info',
    command,
    network: network.name,
    ...(container && { container, ifname, args }),
    ms: Math.round(clock.monotonic() - start),
    ...(failure && { code: failure.code, msg: failure.message, details: failure.details }),
  });
  try {
    appendFileSync(network.logFile, `${line}\n`, { mode: 0o600 });
  } catch (error) {
    // The runtime logs the standard error; the call itself may have succeeded.
    process.stderr.write(
      `contiv-cni: cannot write the log ${network.logFile}: ${error}\n${line}\n`,
    );
  }
}
