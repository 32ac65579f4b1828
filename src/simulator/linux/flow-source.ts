import type {
  ConnectionEvent,
  EndedConnection,
  FlowSource,
  OngoingConnection,
} from '#linux/socket-flows/api.ts';

/** Connections of a simulated kernel, as tests and the demonstration report them. */
export class SimFlowSource implements FlowSource {
  #events: ConnectionEvent[] = [];
  #ongoing: readonly (OngoingConnection | EndedConnection)[] = [];
  #lost = 0;
  #isRemoved = false;
  #fault: Error | undefined;

  push(...events: readonly ConnectionEvent[]): void {
    this.#events.push(...events);
  }

  /** As if the agent had read too slowly. */
  lose(count: number): void {
    this.#lost += count;
  }

  /** Reading fails from now on; undefined: no longer. */
  fail(fault: Error | undefined): void {
    this.#fault = fault;
  }

  read(each: (event: ConnectionEvent) => void, limit: number): boolean {
    if (this.#fault) throw this.#fault;
    const events = this.#events.slice(0, limit);
    this.#events = this.#events.slice(limit);
    for (const event of events) each(event);
    return this.#events.length > 0;
  }

  /** Connections that continue from now on, and those that are found to have ended. */
  setOngoing(...connections: readonly (OngoingConnection | EndedConnection)[]): void {
    this.#ongoing = connections;
  }

  async measure(each: (connection: OngoingConnection | EndedConnection) => void): Promise<void> {
    if (this.#fault) throw this.#fault;
    for (const connection of this.#ongoing) each(connection);
  }

  lost(): number {
    return this.#lost;
  }

  readonly displaced = 0;

  lostParts(): readonly string[] {
    return this.#isRemoved ? ['no program runs at connection'] : [];
  }

  restore(): void {
    this.#isRemoved = false;
  }

  remove(): void {
    this.#isRemoved = true;
  }
}
