/**
 * VPP and the agent of a node: started in their order, watched, and stopped in the reverse order. The
 * agent is restarted alone when it ends, so VPP continues forwarding; when VPP ends, everything ends.
 */
import type { Writable } from 'node:stream';
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ManagedProcess } from '#infra/process-manager/managed-process.ts';
import type { ProcessManager } from '#infra/process-manager/process-manager.ts';
import type { ProcessEnd } from '#infra/process-manager/process-run.ts';
import { whenAccepting } from './api-socket.ts';
import { VppEndedError } from './errors.ts';

/**
 * How long a program may take to end after SIGTERM. Together with the time of `Preparation.undo` this has
 * to be less than the 30 s after which Kubernetes kills the container.
 */
const AGENT_STOP_MS = 8_000;
const VPP_STOP_MS = 8_000;

/** The turn in which the end of VPP is noticed may have polled before; each reads as much as a pipe has. */
const LAST_TURNS = 3;

export interface AgentProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Runs before the first start. */
  prepare(): Promise<void>;
}

export interface VppStart {
  /** File with the startup configuration. */
  readonly configuration: string;
  readonly apiSocket: string;
}

/** The host as VPP needs it. */
export interface Preparation {
  /**
   * Runs before VPP starts.
   * @param onWait called when it has to wait: the agent is started then, which answers the probes of kubelet
   * @throws also the reason of `stop`
   */
  run(stop: AbortSignal, onWait: () => Promise<void>): Promise<VppStart>;
  /**
   * Resolves when VPP has lost what it needs of the host, and has to end.
   * @throws the reason of `stop`
   */
  whenLost(stop: AbortSignal): Promise<Error>;
  /** Runs after VPP has ended, also when `run` has failed. Does not throw. */
  undo(): Promise<void>;
}

export interface VswitchDeps {
  readonly vppCommand: string;
  /** undefined: the agent runs in a container of its own. */
  readonly agent: AgentProgram | undefined;
  readonly preparation: Preparation;
  /** When a program ends, leave everything as it is, for a debugger. */
  readonly staysAfterCrash: boolean;
  readonly manager: ProcessManager;
  /** Gets what VPP writes to its standard error. */
  readonly vppMessages: Writable;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Vswitch {
  readonly #deps: VswitchDeps;
  #vpp: ManagedProcess | undefined;
  #agent: ManagedProcess | undefined;
  #isVppReady = false;

  constructor(deps: VswitchDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves after `stop`, when both programs have ended.
   * @throws when VPP cannot be started or has ended; then both programs have ended, too
   */
  async run(stop: AbortSignal): Promise<void> {
    try {
      await this.#run(stop);
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      await this.#end();
    }
  }

  /** SIGUSR1 opens the debugger of Node.js in the agent; VPP would end by it. */
  debugAgent(): void {
    const { log } = this.#deps;
    if (this.#agent?.isAlive) this.#agent.signal('SIGUSR1');
    else log.warn('ignoring SIGUSR1: no agent runs');
  }

  async #run(stop: AbortSignal): Promise<void> {
    const { preparation, agent, staysAfterCrash, log } = this.#deps;
    const stopped = new Promise<undefined>((resolve) =>
      stop.addEventListener('abort', () => resolve(undefined)),
    );
    const startAgent = async (): Promise<void> => {
      stop.throwIfAborted();
      if (agent && !this.#agent) await this.#startAgent(agent, stop);
    };
    // A request of the preparation may take longer than Kubernetes waits for the end.
    const start = await Promise.race([preparation.run(stop, startAgent), stopped]);
    if (!start) return;
    const vpp = await this.#startVpp(start, stop);
    await startAgent();
    const lost = preparation.whenLost(stop).catch((error: unknown) => {
      if (!stop.aborted) log.error({ err: error }, 'the NIC of VPP is not watched any more');
      return stopped;
    });
    const end = await Promise.race([vpp.wait(), lost, stopped]);
    if (end === undefined) return;
    if (end instanceof Error) log.error({ err: end }, 'VPP has lost its NIC');
    else log.error({ ...end }, 'VPP ended');
    if (staysAfterCrash) await stopped;
    else throw end instanceof Error ? end : endedError(start, end);
  }

  /** Resolves when VPP accepts connections. */
  async #startVpp(start: VppStart, stop: AbortSignal): Promise<ManagedProcess> {
    const { vppCommand, manager, clock, log } = this.#deps;
    const vpp = await manager.create('vpp', vppCommand, {
      args: ['-c', start.configuration],
      output: 'inherit',
      errorOutput: this.#deps.vppMessages,
    });
    await vpp.start();
    this.#vpp = vpp;
    const early = new AbortController();
    void vpp.wait().then((end) => early.abort(endedError(start, end)));
    await whenAccepting(start.apiSocket, clock, AbortSignal.any([stop, early.signal]));
    this.#isVppReady = true;
    log.info({ socket: start.apiSocket, uptimeMs: Math.round(vpp.uptimeMs) }, 'VPP is ready');
    return vpp;
  }

  async #startAgent({ command, args, prepare }: AgentProgram, stop: AbortSignal): Promise<void> {
    const { manager, staysAfterCrash } = this.#deps;
    await prepare();
    // The end waits for no preparation, and would not stop an agent that is started after it.
    stop.throwIfAborted();
    const agent = await manager.create('agent', command, {
      args,
      restarts: staysAfterCrash ? 0 : -1,
      output: 'inherit',
      errorOutput: 'inherit',
    });
    await agent.start();
    this.#agent = agent;
  }

  /** The agent first: it would report that VPP is not connected. */
  async #end(): Promise<void> {
    await this.#stop(this.#agent, AGENT_STOP_MS);
    // Until it is ready VPP ignores SIGTERM.
    if (this.#isVppReady) await this.#stop(this.#vpp, VPP_STOP_MS);
    else await this.#vpp?.kill();
    await this.#deps.preparation.undo();
    await this.#deps.manager.close();
    // the last lines of VPP, maybe the stack of its crash, are still in the pipe: the next turn that polls reads them
    for (let turn = 0; turn < LAST_TURNS; turn++) await this.#deps.clock.turn();
  }

  async #stop(program: ManagedProcess | undefined, limitMs: number): Promise<void> {
    const { clock, log } = this.#deps;
    if (!program) return;
    // Also when it does not run: it may be about to be restarted.
    program.stop();
    if (!program.isAlive) return;
    const kill = clock.timer(limitMs, () => {
      log.warn({ process: program.name, limitMs }, 'killing the process: it does not end');
      void program.kill();
    });
    await program.wait();
    kill.cancel();
  }
}

function endedError(start: VppStart, end: ProcessEnd | undefined): Error {
  const how = end?.signal ?? `exit code ${end?.code}`;
  return new VppEndedError(`VPP ended: ${how}`, { where: start.configuration });
}
