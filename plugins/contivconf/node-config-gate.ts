/**
 * Delays the first resync of a node that is configured by its NodeConfig until the database has one:
 * configuring it from contiv.conf meanwhile would take the main interface away from it afterwards. A
 * node that has been configured before does not wait, whatever the database has: its last valid
 * NodeConfig is in the local store.
 */
import type { KvStore } from '#datastore/api.ts';
import { type CodedError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import type { ContivConfig } from './config.ts';
import { NodeConfigMissingError } from './errors.ts';
import { VALID_NODE_CONFIG_KEY } from './valid-node-config.ts';

export interface NodeConfigGateDeps {
  readonly nodeName: string;
  readonly config: Pick<ContivConfig, 'crdNodeConfigurationDisabled'>;
  /** Local store of this node. */
  readonly store: Pick<KvStore, 'get'>;
  readonly log: Logger;
}

/** Content of a database, as far as the gate looks at it. */
interface Content {
  readonly kubeState: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export class NodeConfigGate {
  readonly #deps: NodeConfigGateDeps;
  #missing: CodedError | undefined;
  #isReported = false;

  constructor(deps: NodeConfigGateDeps) {
    this.#deps = deps;
  }

  /** Key of the NodeConfig in the database. */
  get key(): string {
    return REFLECTOR_PREFIX + this.#resourceKey;
  }

  /** Why the node is not configured yet; undefined: it does not wait. */
  get missing(): CodedError | undefined {
    return this.#missing;
  }

  /** The database was read and has no NodeConfig of the node. */
  get isConfirmed(): boolean {
    return this.#isReported;
  }

  /** Decides whether the node waits at all. */
  async init(): Promise<void> {
    const { config, nodeName } = this.#deps;
    if (config.crdNodeConfigurationDisabled || (await this.#wasConfigured())) return;
    this.#missing = new NodeConfigMissingError(
      `waiting for the NodeConfig of node "${nodeName}"; nothing is configured until then`,
      { where: this.key },
    );
  }

  /** Called with each content of the database until the first resync. @returns why that must wait */
  blocks({ kubeState }: Content): CodedError | undefined {
    const { key } = this;
    const { log } = this.#deps;
    if (kubeState[resources.nodeconfig.keyword]?.[this.#resourceKey]) {
      if (this.#isReported) log.info({ key }, 'the NodeConfig of this node is available');
      this.#missing = undefined;
    } else if (this.#missing && !this.#isReported) {
      this.#isReported = true;
      log.warn({ key }, 'waiting for the NodeConfig of this node');
    }
    return this.#missing;
  }

  get #resourceKey(): string {
    return resources.nodeconfig.key(this.#deps.nodeName, '');
  }

  async #wasConfigured(): Promise<boolean> {
    const { store, log } = this.#deps;
    try {
      return (await store.get(VALID_NODE_CONFIG_KEY)) !== undefined;
    } catch (thrown) {
      const reason = errorText(thrown);
      log.warn({ key: VALID_NODE_CONFIG_KEY, reason }, 'cannot read the last valid NodeConfig');
      return false;
    }
  }
}
