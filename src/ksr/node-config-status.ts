/**
 * The status of NodeConfigs: what the node of that name has decided about exactly this content. A decision about an
 * earlier content is not shown.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { nodeConfigDigest } from '#kubernetes/models/node-config-status.ts';
import { nodeConfigValue } from '#kubernetes/reflector/custom-resources.ts';
import type { KubeNodeConfig } from '#kubernetes/reflector/objects/custom-resources.ts';
import { InvalidModelError } from '#models/model.ts';
import type { ApiServer, ObjectName } from './api-server/api.ts';
import { NodeDecisions, type NodeDecisionsDeps } from './node-decisions.ts';
import { creationTimeOf, displayName, readKubeObject } from './records/kube-object.ts';
import { objectInUse } from './records/object-in-use.ts';
import { type StatusKind, type StatusObject, StatusWriter } from './status-writer.ts';

const GROUP_PATH = '/apis/nodeconfig.contiv.vpp/v1';
const TYPE = { kind: 'NodeConfig', apiVersion: 'nodeconfig.contiv.vpp/v1' } as const;
/** Without a decision for this time, the status says so. */
const DECISION_MS = 30_000;

export interface NodeConfigStatusDeps {
  readonly apiServer: ApiServer;
  readonly store: NodeDecisionsDeps['store'];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Status of the resource, without its time. */
interface Status {
  readonly state: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly refusedFields: readonly { readonly field: string; readonly reason: string }[];
}

interface NodeConfigObject extends StatusObject {
  readonly created: string;
  readonly generation: number;
  /** Of the record; undefined: the object is invalid. */
  readonly digest: string | undefined;
  readonly rejection: string;
  /** In the API server. */
  readonly status: Readonly<Record<string, unknown>>;
  /** Since when it has this content, on the monotonic clock. */
  readonly since: number;
}

/** The work of one leadership. */
export class NodeConfigStatusWriter implements StatusKind<NodeConfigObject> {
  readonly kind = TYPE.kind;
  readonly paths = [`${GROUP_PATH}/nodeconfigs`] as const;
  readonly #deps: NodeConfigStatusDeps;
  readonly #decisions: NodeDecisions;
  readonly #writer: StatusWriter<NodeConfigObject>;

  constructor(deps: NodeConfigStatusDeps) {
    this.#deps = deps;
    this.#decisions = new NodeDecisions({ ...deps, onChange: (node) => this.#reopen(node) });
    this.#writer = new StatusWriter(deps, this);
  }

  start(): void {
    this.#decisions.start();
    this.#writer.start();
  }

  async close(): Promise<void> {
    this.#decisions.close();
    await this.#writer.close();
  }

  changed({ name }: ObjectName): void {
    this.#reopen(name);
  }

  /** Objects with the name of a node, in whatever namespace, have one record and one decision. */
  #ofNode(node: string): NodeConfigObject[] {
    return [...this.#writer.objects.values()].filter(({ name }) => name.name === node);
  }

  #reopen(node: string): void {
    for (const one of this.#ofNode(node)) this.#writer.reopen(one);
  }

  read(raw: unknown): NodeConfigObject | undefined {
    const { name, object, rejection: unreadable = '' } = readKubeObject(raw, TYPE);
    if (!name) return undefined;
    const { metadata, status } = raw as {
      readonly metadata: { readonly generation?: number };
      readonly status?: Record<string, unknown>;
    };
    const { digest, rejection } =
      object?.kind === 'NodeConfig'
        ? digestOf(object)
        : { digest: undefined, rejection: unreadable };
    const before = this.#writer.objects.get(displayName(name));
    const isSame = before !== undefined && before.digest === digest;
    const since = isSame ? before.since : this.#deps.clock.monotonic();
    const { generation = 0 } = metadata;
    const created = creationTimeOf(raw);
    return { name, created, generation, digest, rejection, status: status ?? {}, since };
  }

  statusOf(one: NodeConfigObject): object | 'shown' | 'unknown' {
    const status = this.#decidedStatus(one);
    if (status === undefined) return 'unknown';
    if (isShown(status, one)) return 'shown';
    const decided = this.#decisions.get(one.name.name)?.since;
    const since = decided || new Date(this.#deps.clock.wallTime()).toISOString();
    return { ...status, since };
  }

  /** undefined: a decision may still come. */
  #decidedStatus(one: NodeConfigObject): Status | undefined {
    const { name, digest, generation: observedGeneration, rejection, since } = one;
    const base = { observedGeneration, refusedFields: [] };
    if (digest === undefined) return { ...base, state: 'Refused', message: rejection };
    const inUse = objectInUse(this.#ofNode(name.name));
    if (inUse && inUse !== one) {
      const message = `${displayName(inUse.name)} configures the node; delete one of the two`;
      return { ...base, state: 'Superseded', message };
    }
    const decision = this.#decisions.get(name.name);
    if (decision?.node_config === digest) {
      const { state, message, refused_fields } = decision;
      const refusedFields = refused_fields.map(({ field, reason }) => ({ field, reason }));
      return { state, message, observedGeneration, refusedFields };
    }
    if (this.#deps.clock.monotonic() - since < DECISION_MS) return undefined;
    const message = `no agent of a node named "${name.name}" has decided about it`;
    return { ...base, state: 'Waiting', message };
  }
}

/** @returns without a digest for an object that the record cannot represent, e.g. with invalid Unicode */
function digestOf(object: KubeNodeConfig): Pick<NodeConfigObject, 'digest' | 'rejection'> {
  try {
    return { digest: nodeConfigDigest(nodeConfigValue(object)), rejection: '' };
  } catch (thrown) {
    if (!(thrown instanceof InvalidModelError)) throw thrown;
    return { digest: undefined, rejection: thrown.message };
  }
}

function isShown(wanted: Status, { status }: NodeConfigObject): boolean {
  const { state, message, observedGeneration, refusedFields } = status;
  return isDeepStrictEqual({ state, message, observedGeneration, refusedFields }, { ...wanted });
}
