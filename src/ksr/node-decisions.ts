/** The decisions of the nodes about their NodeConfigs, followed in the datastore. */
import { errorText } from '#infra/errors/errors.ts';
import {
  type NodeConfigStatus,
  nodeConfigStatusKey,
  nodeConfigStatusModel,
} from '#kubernetes/models/node-config-status.ts';
import { FollowedPrefix, type FollowedPrefixDeps } from './records/followed-prefix.ts';

export interface NodeDecisionsDeps
  extends Pick<FollowedPrefixDeps, 'store' | 'clock' | 'random' | 'log'> {
  /** The decision of a node has changed. */
  readonly onChange: (node: string) => void;
}

export class NodeDecisions {
  readonly #deps: NodeDecisionsDeps;
  readonly #followed: FollowedPrefix;
  #decisions = new Map<string, NodeConfigStatus>();

  constructor(deps: NodeDecisionsDeps) {
    this.#deps = deps;
    this.#followed = new FollowedPrefix({
      ...deps,
      prefix: nodeConfigStatusModel.keyPrefix,
      onRead: (entries) => this.#replace(entries),
      onChange: (key, text) => {
        const node = this.#set(this.#decisions, key, text);
        if (node !== undefined) deps.onChange(node);
      },
    });
  }

  get(node: string): NodeConfigStatus | undefined {
    return this.#decisions.get(node);
  }

  start(): void {
    this.#followed.start();
  }

  close(): void {
    this.#followed.close();
  }

  #replace(entries: ReadonlyMap<string, string>): void {
    const before = this.#decisions;
    const found = new Map<string, NodeConfigStatus>();
    for (const [key, text] of entries) this.#set(found, key, text);
    this.#decisions = found;
    for (const node of new Set([...before.keys(), ...found.keys()])) this.#deps.onChange(node);
  }

  /** An invalid record counts as none. @returns the node; undefined: the key is of no node */
  #set(
    decisions: Map<string, NodeConfigStatus>,
    key: string,
    text: string | undefined,
  ): string | undefined {
    const node = nodeConfigStatusKey.parse(key)?.name;
    if (node === undefined) return undefined;
    const decision = text === undefined ? undefined : this.#parsed(key, text);
    if (decision) decisions.set(node, decision);
    else decisions.delete(node);
    return node;
  }

  #parsed(key: string, text: string): NodeConfigStatus | undefined {
    try {
      return nodeConfigStatusModel.parse(JSON.parse(text), key);
    } catch (thrown) {
      this.#deps.log.debug({ key, reason: errorText(thrown) }, 'ignoring an invalid record');
      return undefined;
    }
  }
}
