/**
 * The last valid NodeConfig of this node, in the local store: an invalid one must not move the node,
 * also if the agent restarts with it. It is written before the node uses it. If the resync is aborted, a
 * restarted agent starts with this one, as the database has it, and a running one writes its own again.
 */
import type { KvStore } from '#datastore/api.ts';
import { errorText } from '#infra/errors/errors.ts';
import { type NodeConfig, nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext, UpdateContext } from '#plugins/controller/api/event-handler.ts';
import type { StolenInterface } from '#plugins/controller/api/ports/stn.ts';

/** Key in the local store. */
export const VALID_NODE_CONFIG_KEY = 'local/contivconf/node-config';

/** The configuration of the host on a NIC, with the requested name of the NIC. */
export interface StolenNic {
  readonly name: string;
  readonly interface: StolenInterface;
}

export interface ValidNodeConfig {
  /** null: the node has no NodeConfig, which is valid. */
  readonly nodeConfig: NodeConfig | null;
  /** null: VPP takes over no NIC. */
  readonly stolen: StolenNic | null;
}

type Context = Pick<ResyncContext | UpdateContext, 'callPort' | 'log'>;

export class ValidNodeConfigRecord {
  readonly #store: KvStore;
  /** Text in the store; undefined: none, not read, or unknown because a write failed. */
  #text: string | undefined;

  constructor(store: KvStore) {
    this.#store = store;
  }

  /**
   * An invalid record is missing only until the next valid one.
   * @throws FatalError: without the record an invalid NodeConfig would be applied
   */
  async read(ctx: Context): Promise<ValidNodeConfig | undefined> {
    const text = await this.#readText(ctx);
    if (text === null) return undefined;
    this.#text = text;
    try {
      return parsed(text);
    } catch (cause) {
      const reason = errorText(cause);
      ctx.log.warn(
        { key: VALID_NODE_CONFIG_KEY, reason },
        'the record of the last valid NodeConfig of this node is invalid',
      );
      return undefined;
    }
  }

  async #readText(ctx: Context): Promise<string | null> {
    try {
      return await ctx.callPort(
        'local store/get NodeConfig',
        async () => (await this.#store.get(VALID_NODE_CONFIG_KEY)) ?? null,
      );
    } catch (cause) {
      throw new FatalError('cannot read the last valid NodeConfig from the local store', {
        cause,
      });
    }
  }

  /** Writes changes. If that fails, the agent has it in memory, and the next resync writes it. */
  async write(ctx: Context, value: ValidNodeConfig): Promise<void> {
    const text = JSON.stringify(value);
    if (text === this.#text) return;
    this.#text = undefined;
    try {
      await ctx.callPort('local store/put NodeConfig', () =>
        this.#store.put(VALID_NODE_CONFIG_KEY, text),
      );
      this.#text = text;
    } catch (cause) {
      const reason = errorText(cause);
      ctx.log.warn(
        { key: VALID_NODE_CONFIG_KEY, reason },
        'cannot store the valid NodeConfig of this node',
      );
    }
  }
}

/** @throws SyntaxError, InvalidModelError */
function parsed(text: string): ValidNodeConfig {
  const { nodeConfig, stolen } = JSON.parse(text) as ValidNodeConfig;
  return {
    nodeConfig: nodeConfig && nodeConfigModel.parse(nodeConfig, VALID_NODE_CONFIG_KEY),
    stolen,
  };
}
