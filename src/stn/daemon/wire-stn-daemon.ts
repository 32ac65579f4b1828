/** contiv-stn from top to bottom. This file lists the components in start order. */
import { dirname } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { createFolder } from '#infra/files/folder.ts';
import { type GrpcServer, serveGrpc } from '#infra/grpc/server.ts';
import type { HttpConfig } from '#infra/http/config.ts';
import { wireHttpServer } from '#infra/http/wire-http-server.ts';
import { type Loggers, logRoutes } from '#infra/log/loggers.ts';
import { type Component, Lifecycle } from '#infra/process/lifecycle.ts';
import { probeRoutes } from '#infra/status/routes.ts';
import { type BuildInfo, StatusCheck } from '#infra/status/status.ts';
import type { HostNetwork } from './host-network.ts';
import type { PciDevices } from './pci-devices.ts';
import { diskRecordStore } from './record-store.ts';
import { stnService } from './stn-service.ts';
import { StolenNics } from './stolen-nics.ts';
import { VSWITCH_LINK, VswitchWatch } from './vswitch-watch.ts';

export const StnListenError = defineError({
  name: 'StnListenError',
  code: 'CV_STN_LISTEN',
  remedy: 'Check whether another contiv-stn runs on this host, and the path given to --grpc.',
});

/** A release may wait for a process that still uses the device. */
const LIMITS = { startMs: 0, stopMs: 30_000 };
const GRACE_MS = 2_000;
const TICK_MS = 1_000;

export interface StnDaemonDeps {
  readonly socketPath: string;
  /** Folder of the records. */
  readonly stateFolder: string;
  readonly http: HttpConfig;
  readonly network: HostNetwork;
  readonly pci: PciDevices;
  readonly bootId: string;
  readonly build: BuildInfo;
  readonly clock: Clock;
  readonly loggers: Loggers;
}

export interface StnDaemon {
  /** Port of the probes. */
  readonly port: number;
  start(): Promise<void>;
  /** A NIC stays with a vswitch that works; otherwise the host gets it back. */
  stop(): Promise<void>;
}

export function createStnDaemon(deps: StnDaemonDeps): StnDaemon {
  const { network, clock, loggers, stateFolder } = deps;
  const log = loggers.get('stn');
  const store = diskRecordStore(stateFolder, log);
  const nics = new StolenNics({ ...deps, store, log });
  const watch = new VswitchWatch(() => network.links(), clock);
  const status = new StatusCheck(clock, deps.build);
  status.registerProblem('nics', 'readiness', () => nics.problem);
  const http = wireHttpServer(
    deps.http,
    [...probeRoutes(status), ...logRoutes(loggers)],
    clock,
    loggers,
  );
  const closing = new AbortController();
  const tick = async (): Promise<void> => {
    await nics.check();
    if (!nics.isAnyStolen || !watch.isLost) return;
    log.error({ link: VSWITCH_LINK }, 'the vswitch does not come up: its NICs are given back');
    await nics.releaseAll();
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await tick().catch((error: unknown) => log.error({ err: error }, 'the check failed'));
      await clock.sleep(TICK_MS, closing.signal).catch(() => undefined);
    }
  };
  /** undefined: this daemon has not become the one of the host, so the NICs are those of another one. */
  let running: Promise<void> | undefined;
  const taking: Component = {
    name: 'nics',
    init: () => nics.start(),
    afterInit: () => {
      watch.arm();
      running = run();
    },
    close: async () => {
      closing.abort();
      if (!running) return;
      await running;
      if (nics.isAnyStolen && !watch.isUp) await nics.releaseAll();
    },
  };
  const service = stnService({ nics, onSteal: () => watch.arm(), log });
  let serving: GrpcServer | undefined;
  const grpc: Component = {
    name: 'grpc',
    // Only one daemon listens, and no NIC is touched before.
    init: async () => {
      const { socketPath } = deps;
      createSocketFolder(socketPath);
      serving = await serveGrpc({
        services: [service],
        address: { socketPath, mode: 0o700, replaceStale: true },
        subject: { name: 'socket of --grpc', error: StnListenError },
        clock,
      });
      log.info({ socket: socketPath, state: stateFolder }, 'contiv-stn is listening');
    },
    close: () => serving?.close(GRACE_MS),
  };
  const lifecycle = new Lifecycle([http.component, taking, grpc], LIMITS, clock, log);
  return {
    get port() {
      return http.port;
    },
    start: () => lifecycle.start(),
    stop: () => lifecycle.stop(),
  };
}

/** @throws StnListenError */
function createSocketFolder(socketPath: string): void {
  try {
    createFolder(dirname(socketPath), 0o700);
  } catch (cause) {
    throw new StnListenError(`cannot create the folder of the socket: ${errorText(cause)}`, {
      where: socketPath,
      cause,
    });
  }
}
