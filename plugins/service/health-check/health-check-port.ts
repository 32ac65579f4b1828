/** Port: where health checks of load balancers arrive. */

/** An HTTP reply. */
export interface HealthReply {
  readonly status: 200 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OpenPort {
  /** Closes the port and its connections. */
  close(): Promise<void>;
}

export interface HealthCheckPort {
  /**
   * Serves a TCP port on all addresses of the node.
   * @param reply is called for each request
   * @throws if the port is used by another process, or cannot be opened
   */
  open(port: number, reply: () => HealthReply): Promise<OpenPort>;
}
