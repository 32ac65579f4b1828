/** The nodes by name or address. */
import { isIP } from 'node:net';
import type { ClusterNode, ClusterPod } from '../command.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
import { type NodeSource, NodeSourceError, UnknownNodeError } from './node-source.ts';

export interface OwnAgent {
  readonly socket: string;
  /** Addresses of this machine. */
  readonly addresses: readonly string[];
}

export class NodeDirectory {
  readonly #open: () => Promise<NodeSource>;
  readonly #own: OwnAgent | undefined;
  readonly #nameOf: (node: ClusterNode) => Promise<string | undefined>;
  #source: Promise<NodeSource> | undefined;
  #nodes: Promise<readonly ClusterNode[]> | undefined;

  /**
   * @param open called for the first question only
   * @param own the agent of this machine; undefined: there is none that this user may call
   * @param nameOf asks an agent for the name of its node; undefined: it does not answer
   */
  constructor(
    open: () => Promise<NodeSource>,
    own: OwnAgent | undefined,
    nameOf: (node: ClusterNode) => Promise<string | undefined>,
  ) {
    this.#open = open;
    this.#own = own;
    this.#nameOf = nameOf;
  }

  async nodes(selectors: readonly string[] = []): Promise<readonly ClusterNode[]> {
    if (selectors.length === 0) return await this.#all();
    const nodes = new Set<ClusterNode>();
    for (const selector of selectors) nodes.add(await this.#one(selector));
    return [...nodes];
  }

  async pods(): Promise<readonly ClusterPod[] | undefined> {
    return await (await this.#opened()).pods();
  }

  /** undefined: the nodes are known from elsewhere. */
  async kubernetes(): Promise<KubernetesApi | undefined> {
    return (await this.#opened()).kubernetes;
  }

  async close(): Promise<void> {
    await (await this.#source?.catch(() => undefined))?.close();
  }

  async #one(selector: string): Promise<ClusterNode> {
    const isAddress = isIP(selector) !== 0;
    const nodes = await this.#all().catch((thrown) => {
      if (isAddress && thrown instanceof NodeSourceError) return [];
      throw thrown;
    });
    const named =
      nodes.find((node) => [node.name, node.given, node.host].includes(selector)) ??
      nodes.find(({ vppAddress }) => vppAddress === selector);
    if (named) return named;
    if (isAddress) return { name: selector, id: undefined, host: selector, vppAddress: undefined };
    const names = nodes.map(({ name }) => name).join(', ');
    throw new UnknownNodeError(`no node has this name; known: ${names || 'none'}`, {
      where: selector,
    });
  }

  #all(): Promise<readonly ClusterNode[]> {
    this.#nodes ??= this.#opened().then(async (source) => {
      const nodes = await this.#named(source.nodes.map((node) => this.#onOwnSocket(node)));
      return nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    });
    return this.#nodes;
  }

  /** One name of a node in all tables: that of its agent, unless two have the same. */
  async #named(nodes: readonly ClusterNode[]): Promise<readonly ClusterNode[]> {
    const names = await Promise.all(
      nodes.map(async (node) =>
        node.given === undefined ? node.name : ((await this.#nameOf(node)) ?? node.name),
      ),
    );
    return nodes.map((node, at) => {
      const name = names[at]!;
      return names.indexOf(name) === names.lastIndexOf(name) ? { ...node, name } : node;
    });
  }

  /** The socket needs no credentials. */
  #onOwnSocket(node: ClusterNode): ClusterNode {
    const { host, port } = node;
    const isOwn = host !== undefined && port === undefined && this.#own?.addresses.includes(host);
    return isOwn ? { ...node, socket: this.#own!.socket } : node;
  }

  #opened(): Promise<NodeSource> {
    this.#source ??= this.#open();
    return this.#source;
  }
}
