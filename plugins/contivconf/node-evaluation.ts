/**
 * Evaluation of a NodeConfig: the settings of the node with it, and what is wrong with them. Besides the
 * values themselves this checks what they name: interfaces of VPP and of the host, and the NIC that VPP
 * takes over.
 */
import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import { type CodedError, errorText, traitsOf } from '#infra/errors/errors.ts';
import type { NodeConfig } from '#kubernetes/models/node-config.ts';
import { AbortEventError, causedError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import type { StnPort, StolenInterface } from '#plugins/controller/api/ports/stn.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import type { ContivConfig } from './config.ts';
import { InterfaceNotFoundError, NodeConfigError, StolenInterfaceError } from './errors.ts';
import { type NodeSettings, type Origin, resolveNode, stolenNic } from './node-settings.ts';
import type { StolenNic, ValidNodeConfig } from './valid-node-config.ts';
import type { RefusedField } from './verdict.ts';

export interface EvaluatorDeps {
  readonly nodeName: string;
  readonly config: ContivConfig;
  /** Key of the NodeConfig of this node. */
  readonly key: string;
  readonly vpp: VppPort;
  readonly stn: StnPort;
  readonly host: Pick<HostPort, 'links'>;
  /** NICs of VPP by sw_if_index. */
  readonly nics: () => readonly string[];
}

/** Knowledge from before an evaluation. */
export interface NicAndConfig {
  /** The NIC that VPP takes over, as of the last evaluation. */
  readonly stolen: StolenNic | undefined;
  /** undefined: the node has had no valid NodeConfig yet. */
  readonly lastValid: ValidNodeConfig | undefined;
}

export interface Evaluation {
  readonly settings: NodeSettings;
  readonly problems: readonly CodedError[];
  /** Those that have their origin in the NodeConfig. */
  readonly refused: readonly RefusedField[];
  /** The NIC that VPP takes over. */
  readonly stolen: StolenNic | undefined;
}

/** Prefix of the name of a VPP interface that is bound to a link of the host. */
const BOUND_PREFIX = 'host-';

interface Problem {
  readonly error: CodedError;
  readonly source: Origin['source'];
  readonly refused: RefusedField;
}

export class Evaluator {
  readonly #deps: EvaluatorDeps;

  constructor(deps: EvaluatorDeps) {
    this.#deps = deps;
  }

  resolve(
    nodeConfig: NodeConfig | undefined,
    stolen: StolenInterface | undefined,
    isStnRefused = false,
  ): NodeSettings {
    const { config: file, nodeName, nics } = this.#deps;
    return deepFreeze(
      resolveNode({ file, nodeName, nodeConfig, nics: nics(), stolen, isStnRefused }),
    );
  }

  /** @throws AbortEventError if the settings cannot be determined */
  async evaluate(
    ctx: ResyncContext,
    nodeConfig: NodeConfig | undefined,
    before: NicAndConfig,
  ): Promise<Evaluation> {
    const { stolen, refused } = await this.#readStolenNic(ctx, nodeConfig, before);
    const settings = this.resolve(nodeConfig, stolen?.interface, refused !== undefined);
    const problems = [
      ...this.#invalidFields(settings),
      ...(refused ? [refused] : []),
      ...(await this.#missingInterfaces(ctx, settings)),
    ];
    return {
      settings,
      problems: problems.map(({ error }) => error),
      refused: problems
        .filter(({ source }) => source === 'resource')
        .map(({ refused: one }) => one),
      stolen,
    };
  }

  #invalidFields({ problems }: NodeSettings): Problem[] {
    return problems
      .filter(({ source }) => source === 'resource')
      .map(({ source, field, reason, text }) => {
        const error = new NodeConfigError(text, { where: this.#deps.key });
        return { source, error, refused: { field, reason } };
      });
  }

  /**
   * The configuration of the host on a NIC is read once: it does not change after the take-over. For
   * the same reason an earlier answer is valid while the daemon does not answer.
   */
  async #readStolenNic(
    ctx: ResyncContext,
    nodeConfig: NodeConfig | undefined,
    { stolen, lastValid }: NicAndConfig,
  ): Promise<{ readonly stolen: StolenNic | undefined; readonly refused?: Problem }> {
    const { config: file, nodeName, stn } = this.#deps;
    const [name, { source }] = stolenNic({ file, nodeName, nodeConfig });
    if (name === stolen?.name) return { stolen };
    if (name === undefined) return { stolen: undefined };
    try {
      const answer = await ctx.callPort(`stn/stolen interface ${name}`, () =>
        stn.stolenInterface(name),
      );
      return { stolen: { name, interface: answer } };
    } catch (cause) {
      if (lastValid?.stolen?.name === name) {
        ctx.log.warn({ err: cause, nic: name }, 'using the stored answer of the STN daemon');
        return { stolen: lastValid.stolen };
      }
      const isRefused = traitsOf(cause).rejects === 'configuration';
      // Without the answer the address of the node is unknown: nothing may be changed.
      if (!isRefused && !(lastValid && source === 'resource'))
        throw causedError(
          AbortEventError,
          'cannot read the configuration of the host on the NIC that VPP took over',
          cause,
        );
      const field = 'steal_interface';
      const reason = `VPP cannot take over NIC "${name}": ${errorText(cause)}`;
      const where = this.#whereOf(source, field);
      const error = new StolenInterfaceError(reason, { where, cause });
      return { stolen: undefined, refused: { source, error, refused: { field, reason } } };
    }
  }

  async #missingInterfaces(ctx: ResyncContext, settings: NodeSettings): Promise<Problem[]> {
    const { main, others, origins } = settings;
    const named = [
      // a NIC that VPP reported exists
      ...(main.name === undefined || origins.mainName.source === 'vpp'
        ? []
        : [{ name: main.name, field: 'main_vpp_interface', source: origins.mainName.source }]),
      ...others.map(({ name }) => {
        return { name, field: 'other_vpp_interfaces', source: origins.others.source };
      }),
    ];
    if (named.length === 0) return [];
    const missing = await this.#missing(
      ctx,
      named.map(({ name }) => name),
    );
    return named
      .filter(({ name }) => missing.includes(name))
      .map(({ name, field, source }) => {
        const where = this.#whereOf(source, field);
        const reason = `interface "${name}" does not exist`;
        const error = new InterfaceNotFoundError(reason, { where });
        return { source, error, refused: { field: `${field}.interface_name`, reason } };
      });
  }

  /** @throws AbortEventError */
  async #missing(ctx: ResyncContext, names: readonly string[]): Promise<readonly string[]> {
    const { vpp, host } = this.#deps;
    const isBound = (name: string) => name.startsWith(BOUND_PREFIX);
    try {
      return await ctx.callPort(`missing interfaces among ${names.join(' ')}`, async () => {
        const links = names.some(isBound) ? await host.links() : [];
        const interfaces = names.every(isBound) ? [] : await vpp.interfaces();
        const present = new Set([
          ...links.map(({ name }) => BOUND_PREFIX + name),
          ...interfaces.map(({ internalName }) => internalName),
        ]);
        return names.filter((name) => !present.has(name));
      });
    } catch (cause) {
      throw causedError(AbortEventError, 'cannot list the interfaces of VPP and the host', cause);
    }
  }

  #whereOf(source: Origin['source'], field: string): string {
    return source === 'resource' ? `${this.#deps.key} ${field}` : 'contiv.conf';
  }
}
