/** Renders services as NAT44 of VPP: one value for each service, one for each interface, some for the node. */

import { isDeepStrictEqual } from 'node:util';
import { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { dnat44Key } from '#models/vpp/dnat44.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { UpdateTransaction } from '#plugins/controller/api/transaction.ts';
import type { RenderedService, ServiceName } from '../rendered-service.ts';
import type {
  RenderedChange,
  RenderedState,
  RendererContext,
  ServiceRenderer,
} from '../renderer.ts';
import {
  interfaceValue,
  type NatNode,
  type NatNodeDeps,
  nodeValues,
  readNatNode,
} from './nat-node.ts';
import { type ServiceMappings, serviceMappings } from './service-mappings.ts';
import { SharedValues } from './shared-values.ts';

export function createNat44Renderer(deps: NatNodeDeps): ServiceRenderer {
  return new Nat44Renderer(deps);
}

class Nat44Renderer implements ServiceRenderer {
  readonly name = 'nat44';
  readonly #deps: NatNodeDeps;
  #node: NatNode | undefined;
  /** Values of the node, by key, which services may replace. */
  #nodeValues: ReadonlyMap<string, Value> = new Map();
  /** All values that were put, by key. */
  #values = new Map<string, Value>();
  #limits = new Map<ServiceName, readonly string[]>();
  #shared = new SharedValues();

  constructor(deps: NatNodeDeps) {
    this.#deps = deps;
  }

  async resync(ctx: Pick<ResyncContext, 'txn' | 'clock'>, state: RenderedState): Promise<void> {
    const node = readNatNode(this.#deps);
    this.#node = node;
    this.#values = new Map();
    this.#limits = new Map();
    this.#shared = new SharedValues();
    const put = ({ key, value }: KeyValue): void => {
      this.#values.set(key, value);
      ctx.txn.put(key, value);
    };
    const ofNode = nodeValues(node);
    this.#nodeValues = new Map(ofNode.map(({ key, value }) => [key, value]));
    for (const one of ofNode) put(one);
    for (const name of state.interfaces) put(interfaceValue(node, name));
    const slices = new Slices(ctx.clock);
    for (const service of state.services.values()) {
      const { value } = this.#render(node, service.name, service);
      if (value !== undefined) put({ key: keyOf(service.name), value });
      if (slices.due()) await slices.turn();
    }
    for (const one of this.#shared.all()) put(one);
  }

  update(ctx: RendererContext, change: RenderedChange): void {
    const node = this.#currentNode;
    for (const [name, isUsed] of change.interfaces) {
      const { key, value } = interfaceValue(node, name);
      if (!isUsed) this.#set(ctx.txn, key, undefined);
      else {
        this.#values.set(key, value);
        // even unchanged ones, as all values of a pod; optional: pods are attached while NAT44 fails
        ctx.txn.put(key, value, { optional: true });
      }
    }
    for (const [name, service] of change.services) {
      const { value, shared } = this.#render(node, name, service);
      this.#set(ctx.txn, keyOf(name), value);
      for (const [key, current] of shared)
        this.#set(ctx.txn, key, current ?? this.#nodeValues.get(key));
    }
  }

  changeNode(ctx: RendererContext, services: RenderedState['services']): void {
    const { ownAddresses: before } = this.#currentNode;
    this.#node = readNatNode(this.#deps);
    const { ownAddresses: after } = this.#node;
    const affected = [...services].filter(([, { addresses }]) =>
      addresses.some(({ address }) => before.has(address) !== after.has(address)),
    );
    this.update(ctx, { services: new Map(affected), interfaces: new Map() });
  }

  deleteAll({ txn }: RendererContext): void {
    for (const key of this.#values.keys()) txn.delete(key);
    this.#values.clear();
    this.#limits.clear();
    this.#shared = new SharedValues();
  }

  limitsOf(service: ServiceName): readonly string[] {
    return this.#limits.get(service) ?? [];
  }

  valuesOf(service: ServiceName): ReadonlyMap<string, Value> {
    const key = keyOf(service);
    const value = this.#values.get(key);
    return new Map(value === undefined ? [] : [[key, value]]);
  }

  /** The value of a service; keeps what else follows from it, and returns what of that has changed. */
  #render(node: NatNode, name: ServiceName, service: RenderedService | undefined): Rendering {
    const { value, limits, shared } =
      service === undefined ? noMappings : serviceMappings(service, node);
    if (limits.length > 0) this.#limits.set(name, limits);
    else this.#limits.delete(name);
    return { value, shared: this.#shared.set(name, shared) };
  }

  /** Puts a value that has changed; undefined deletes it. */
  #set(txn: UpdateTransaction, key: string, value: Value | undefined): void {
    const before = this.#values.get(key);
    if (value === undefined) {
      if (before === undefined) return;
      this.#values.delete(key);
      txn.delete(key);
    } else if (!isDeepStrictEqual(before, value)) {
      this.#values.set(key, value);
      txn.put(key, value);
    }
  }

  get #currentNode(): NatNode {
    if (!this.#node) throw new AbortEventError('NAT44 is unknown before the first resync');
    return this.#node;
  }
}

interface Rendering {
  readonly value: Value | undefined;
  /** Values of several services that have come, or gone (undefined). */
  readonly shared: ReadonlyMap<string, Value | undefined>;
}

const noMappings: ServiceMappings = {
  value: undefined,
  limits: [],
  shared: [],
};

function keyOf(service: ServiceName): string {
  return dnat44Key.build({ label: service });
}
