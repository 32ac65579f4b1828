import { existsSync } from 'node:fs';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { silentLogger } from '#infra/log/log.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { postJson } from './agent-requests.ts';

const CONNECT_MS = 3_000;
/** A large table takes VPP a while, and it answers no probe meanwhile. */
const REPLY_MS = 20_000;
const patientHealth = { intervalMs: REPLY_MS, timeoutMs: REPLY_MS, maxMisses: 1 };

/** The CLI of VPP. */
export interface VppCli {
  run(command: string, signal: AbortSignal): Promise<string>;
  /** False when VPP has stopped answering. */
  isAvailable(): boolean;
  close(): Promise<void>;
}

interface VppCliDeps {
  readonly vppSocket: string;
  readonly agentSocket: string;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * A connection of its own: the agent may not be running, and would take a slow command for an outage.
 * Without a socket VPP may be a simulated one, which only its agent can ask.
 */
export async function openVppCli(deps: VppCliDeps, signal: AbortSignal): Promise<VppCli> {
  return existsSync(deps.vppSocket) ? await directCli(deps, signal) : agentCli(deps);
}

async function directCli(
  { vppSocket, clock, random }: VppCliDeps,
  signal: AbortSignal,
): Promise<VppCli> {
  const client = new BinapiClient({
    connect: unixConnect(vppSocket, clock),
    clock,
    random,
    log: silentLogger,
    name: 'contiv-report',
    replyTimeoutMs: REPLY_MS,
    commandTimeoutMs: REPLY_MS,
    health: patientHealth,
  });
  client.start();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = clock.timer(CONNECT_MS, () =>
    reject(new Error(`VPP does not answer on ${vppSocket}`)),
  );
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  try {
    await Promise.race([client.whenConnected(), late]);
  } catch (error) {
    await client.close();
    throw error;
  } finally {
    timer.cancel();
  }
  return {
    run: async (cmd) => (await client.request('cli_inband', { cmd })).reply,
    isAvailable: () => client.state === 'connected',
    close: () => client.close(),
  };
}

function agentCli({ agentSocket, clock }: VppCliDeps): VppCli {
  let isReached = true;
  return {
    run: async (vppclicommand, signal) => {
      try {
        return String(
          await postJson(agentSocket, '/vpp/command', { vppclicommand }, signal, clock),
        );
      } catch (error) {
        // A command that VPP refuses is answered, too.
        isReached = /^status /.test(errorText(error));
        throw error;
      }
    },
    isAvailable: () => isReached,
    close: () => Promise.resolve(),
  };
}
