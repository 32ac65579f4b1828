/** Memory of the ACLs of a VPP: the sessions that rules with the action REFLECT make. */

/** `input`: packets that enter by the interface. */
export type AclSide = 'input' | 'output';

/** A packet as sessions distinguish it. */
export interface AclFlow {
  /** Number of the IP protocol. */
  readonly protocol: number;
  readonly source: string;
  /** For ICMP the type; 0 for protocols whose ports VPP does not know. */
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
}

/** The rule that made it. */
export interface AclSession {
  readonly acl: string;
  readonly rule: number;
  /** Key of the value of the ACL. */
  readonly key: string;
}

/** The memory of one VPP. Each interface has its own sessions. */
export interface AclSessions {
  /** The session whose packets, or whose replies, are those of the flow. */
  find(interfaceName: string, side: AclSide, flow: AclFlow): AclSession | undefined;
  add(interfaceName: string, side: AclSide, flow: AclFlow, session: AclSession): void;
}

/** For each ICMP protocol, the type of requests for which VPP makes a session, and the type of the reply. */
const echoTypes: ReadonlyMap<number, { readonly request: number; readonly reply: number }> =
  new Map([
    [1, { request: 8, reply: 0 }],
    [58, { request: 128, reply: 129 }],
  ]);

/** Sessions with a base, which is not changed. */
export class AclSessionTable implements AclSessions {
  readonly #base: AclSessions | undefined;
  /** By interface, then by side and flow; a session has two entries. */
  readonly #sessions = new Map<string, Map<string, AclSession>>();

  constructor(base?: AclSessions) {
    this.#base = base;
  }

  find(interfaceName: string, side: AclSide, flow: AclFlow): AclSession | undefined {
    const own = this.#sessions.get(interfaceName)?.get(textOf(side, flow));
    return own ?? this.#base?.find(interfaceName, side, flow);
  }

  add(interfaceName: string, side: AclSide, flow: AclFlow, session: AclSession): void {
    const echo = echoTypes.get(flow.protocol);
    if (echo && flow.sourcePort !== echo.request) return;
    const sessions = this.#sessions.get(interfaceName) ?? new Map<string, AclSession>();
    this.#sessions.set(interfaceName, sessions);
    const otherSide = side === 'input' ? 'output' : 'input';
    sessions.set(textOf(side, flow), session);
    sessions.set(textOf(otherSide, reverse(flow)), session);
  }

  /** VPP deletes the sessions of an interface when other ACLs are bound to it. */
  clear(interfaceName: string): void {
    this.#sessions.delete(interfaceName);
  }
}

function textOf(side: AclSide, flow: AclFlow): string {
  const { protocol, source, sourcePort, destination, destinationPort } = flow;
  return `${side} ${protocol} ${source}:${sourcePort} ${destination}:${destinationPort}`;
}

function reverse({ protocol, source, sourcePort, destination, destinationPort }: AclFlow): AclFlow {
  const swapped = { protocol, source: destination, destination: source };
  const echo = echoTypes.get(protocol);
  // what are ports of other protocols are type and code of ICMP
  if (echo) return { ...swapped, sourcePort: echo.reply, destinationPort };
  return { ...swapped, sourcePort: destinationPort, destinationPort: sourcePort };
}
