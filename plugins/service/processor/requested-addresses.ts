/** The addresses at which a service or the host ports of a pod ask to be reached, and those that are not rendered. */
import type { AddressKind, ServiceProtocol } from '../rendered-service.ts';
import { isPort, type NodeView } from './local-node.ts';

/** An address that the service is to have on this node, unless another service has it already. */
export interface RequestedAddress {
  /** Identifies address, port and protocol in all services. */
  readonly key: string;
  readonly kind: AddressKind;
  readonly portName: string;
  readonly address: string;
  readonly port: number;
  readonly protocol: ServiceProtocol;
}

/** An address of the object that this node does not render. */
export interface UnrenderedAddress {
  readonly kind: AddressKind;
  readonly portName: string;
  readonly address: string;
  readonly port: number;
  /** As in the object. */
  readonly protocol: string;
  readonly reason: string;
  /** Whether it is reported as a problem: others are as the object wants it. */
  readonly isProblem: boolean;
}

export type NotRendered = Pick<UnrenderedAddress, 'reason' | 'isProblem'>;

export function problem(reason: string): NotRendered {
  return { reason, isProblem: true };
}

export class RequestedAddresses {
  /** By key, in the order of precedence within one service. */
  readonly requested = new Map<string, RequestedAddress>();
  readonly unrendered: UnrenderedAddress[] = [];
  readonly #node: Pick<NodeView, 'userOf'>;

  constructor(node: Pick<NodeView, 'userOf'>) {
    this.#node = node;
  }

  /** @param whyNotAddress why the address is not rendered, whatever its port */
  add(
    one: Omit<UnrenderedAddress, 'reason' | 'isProblem'>,
    whyNotAddress: NotRendered | undefined,
  ): void {
    const { kind, portName, address, port, protocol } = one;
    const whyNot = whyNotAddress ?? this.#whyNotPort(one);
    if (whyNot !== undefined || (protocol !== 'TCP' && protocol !== 'UDP')) {
      this.unrendered.push({ ...one, ...(whyNot ?? unsupported(protocol)) });
      return;
    }
    const key = `${protocol} ${address} ${port}`;
    const known = this.requested.get(key);
    if (known === undefined) {
      this.requested.set(key, { key, kind, portName, address, port, protocol });
      return;
    }
    // the same address of several kinds serves the same port of the service, unless ports are mixed up
    const isProblem = known.portName !== portName;
    const reason = `it is also the ${known.kind} of port ${known.portName || known.port}`;
    this.unrendered.push({ ...one, reason, isProblem });
  }

  #whyNotPort({
    kind,
    address,
    port,
    protocol,
  }: Omit<UnrenderedAddress, 'reason' | 'isProblem'>): NotRendered | undefined {
    if (!isPort(port)) return problem(`${port} is not a port`);
    if (protocol !== 'TCP' && protocol !== 'UDP') return unsupported(protocol);
    if (kind === 'cluster-ip') return undefined;
    const isExternal = kind === 'external-ip' || kind === 'load-balancer';
    const user = this.#node.userOf(port, protocol, isExternal ? address : undefined);
    if (user === undefined) return undefined;
    return problem(`the node needs ${protocol} port ${port} for ${user}`);
  }
}

function unsupported(protocol: string): NotRendered {
  return problem(`${protocol} is not supported`);
}
