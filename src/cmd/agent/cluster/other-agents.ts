/**
 * Asks the agents of other nodes, in the name of a client of this one: with its credentials, so that it gets what it
 * may read there itself. Addresses are those of the records of the nodes, and no other: where a pod could answer, it
 * would get the credentials.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkServerIdentity } from 'node:tls';
import type { Clock } from '#infra/clock/clock.ts';
import { type HttpConfig, parseEndpoint } from '#infra/http/config.ts';
import { NotFoundError } from '#infra/http/route.ts';
import { parseIp } from '#models/ip.ts';
import type { TlsOptions } from '#netctl/requests/http-options.ts';
import { NodeClient } from '#netctl/requests/node-client.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import { AddressRules, type Node, type NodeSyncApi } from '#plugins/nodesync/api.ts';

/** A node that is down must not keep the requests of a page waiting. */
const TIMEOUT_MS = 6_000;

/** Of a REST server. */
export interface AgentAddress {
  readonly host: string;
  readonly port: number;
}

export interface OtherAgentsDeps {
  readonly label: string;
  readonly http: HttpConfig;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  readonly net: Pick<Ipv4NetApi, 'ownNetwork'>;
  /** Addresses of the agents of a demonstration; undefined: those of their nodes, with the port of this one. */
  readonly addressOf: ((node: string) => AgentAddress | undefined) | undefined;
  readonly clock: Clock;
}

/** A node of the cluster. This one is known before it has an ID. */
export interface KnownNode extends Pick<Node, 'name' | 'managementAddresses'> {
  readonly id: number | undefined;
}

/** The agent of another node, for one client of this one. */
export interface OtherAgent {
  readonly client: NodeClient;
  readonly node: Parameters<NodeClient['read']>[0];
}

export class OtherAgents {
  readonly #deps: OtherAgentsDeps;
  #tls: TlsOptions | undefined;

  constructor(deps: OtherAgentsDeps) {
    this.#deps = deps;
  }

  /** With this one. */
  all(): readonly KnownNode[] {
    const { label, nodes } = this.#deps;
    const known = [...nodes.allNodes().values()];
    if (nodes.allNodes().has(label)) return known;
    return [{ name: label, id: undefined, managementAddresses: [] }, ...known];
  }

  /**
   * @param authorization header of the client
   * @throws NotFoundError unless the cluster has another node of this name
   */
  find(name: string, authorization: string | undefined, signal: AbortSignal): OtherAgent {
    const { label, nodes } = this.#deps;
    if (name === label)
      throw new NotFoundError(`${name} is this node: ask it for its own documents`);
    const node = nodes.allNodes().get(name);
    if (node === undefined) throw new NotFoundError(`no node with an ID has the name ${name}`);
    return this.of(node, authorization, signal);
  }

  of(node: KnownNode, authorization: string | undefined, signal: AbortSignal): OtherAgent {
    const { http, addressOf, clock } = this.#deps;
    const { name, id } = node;
    const own = parseEndpoint(http.endpoint)?.port ?? 0;
    const { host, port = own } = addressOf?.(name) ?? { host: this.#hostOf(node) };
    this.#tls ??= tlsOptions(http);
    const client = new NodeClient({
      port,
      isHttps: http['server-cert-file'] !== '',
      tls: this.#tls,
      credentials: { header: async () => authorization, accepts: async () => false },
      timeoutMs: TIMEOUT_MS,
      clock,
      signal,
    });
    return { client, node: { name, id, host, vppAddress: undefined } };
  }

  /** The first address that the host of another node can have: a node writes its own record. */
  #hostOf({ managementAddresses }: KnownNode): string | undefined {
    const rules = new AddressRules(this.#deps.net.ownNetwork());
    return managementAddresses.find((one) => rules.whyNot('agent', parseIp(one)) === undefined);
  }
}

/**
 * The agents of a cluster have one certificate, or certificates of one authority. This one shows its own only where
 * its clients need one, too: elsewhere every client would get the rights of an agent.
 */
function tlsOptions(http: HttpConfig): TlsOptions {
  const file = http['server-cert-file'];
  if (file === '') return {};
  const cert = readFileSync(file);
  const own = new X509Certificate(cert).raw;
  const authorities = http['client-cert-files'].map((path) => readFileSync(path));
  return {
    ca: [cert, ...authorities],
    allowPartialTrustChain: true,
    // it may name no address: who has its key is an agent
    checkServerIdentity: (host, peer) =>
      peer.raw.equals(own) ? undefined : checkServerIdentity(host, peer),
    ...(authorities.length > 0 && { cert, key: readFileSync(http['server-key-file']) }),
  };
}
