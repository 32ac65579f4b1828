import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type {
  KvDescriptor,
  OperationContext,
  RetrieveContext,
} from '#kvscheduler/api/descriptor.ts';
import { interfaceVrfKey } from '#models/vpp/derived.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { NAT44_GLOBAL_KEY } from '#models/vpp/nat44-global.ts';
import {
  type Nat44Interface,
  nat44InterfaceKey,
  nat44InterfaceModel,
} from '#models/vpp/nat44-interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { type Feature, featureClaims, readFeatures, setFeature } from './features.ts';
import { globalEntries, type Nat44GlobalMetadata } from './global.ts';
import { ignoreNotFound } from './ignored-retvals.ts';
import { addedNodes, hasNode, knowsNodes, type NatNode, setNode } from './interface-nodes.ts';

/** `edge`: an inside interface that translates packets that leave instead of those that enter. */
type Role = Feature | 'classify' | 'edge';

function rolesOf(value: Nat44Interface): readonly Role[] {
  const roles: Role[] = [];
  if (value.nat_inside || value.output_only) roles.push('in');
  if (value.nat_outside) roles.push('out');
  if (value.output_feature && !value.output_only) roles.push('output');
  if (value.classify) roles.push('classify');
  if (value.output_only) roles.push('edge');
  return roles;
}

/** Nodes of each feature that may be replaced. */
const nodesOf: Readonly<Record<Feature, readonly NatNode[]>> = {
  in: ['reassembly', 'in2out'],
  out: ['reassembly'],
  output: ['reassembly'],
};

/** Nodes that replace those of an inside interface. */
const replacements: Readonly<
  Partial<Record<Role, { readonly own: readonly NatNode[]; readonly replaced: readonly NatNode[] }>>
> = {
  classify: { own: ['classify'], replaced: ['in2out'] },
  // the last one is the one that is asked for
  edge: { own: ['output-reassembly', 'output'], replaced: ['reassembly', 'in2out'] },
};

function ownNodes(roles: readonly Role[]): readonly NatNode[] {
  return roles.flatMap((role) => replacements[role]?.own ?? []);
}

function replacedNodes(roles: readonly Role[]): readonly NatNode[] {
  return roles.flatMap((role) => replacements[role]?.replaced ?? []);
}

function isFeature(role: Role): role is Feature {
  return replacements[role] === undefined;
}

type Step =
  | { readonly feature: Feature; readonly isOn: boolean }
  | { readonly node: NatNode; readonly isOn: boolean };

/**
 * A new side is enabled before the old one is disabled, so that no packet passes without NAT44. VPP refuses
 * the output feature beside a side: then what is old has to go first. VPP enables and disables the nodes
 * of the features by itself, so what replaces them comes after them, and goes before.
 */
function stepsBetween(before: readonly Role[], after: readonly Role[]): readonly Step[] {
  const removed = before.filter((role) => !after.includes(role));
  const added = after.filter((role) => !before.includes(role));
  const features = (roles: readonly Role[], isOn: boolean): readonly Step[] =>
    roles.filter(isFeature).map((feature) => ({ feature, isOn }));
  const nodes = (all: readonly NatNode[], isOn: boolean): readonly Step[] =>
    all.map((node) => ({ node, isOn }));
  const [on, off] = [features(added, true), features(removed, false)];
  const hasOutput = before.includes('output') || after.includes('output');
  const steps = [
    ...nodes(ownNodes(removed), false),
    ...(hasOutput ? [...off, ...on] : [...on, ...off]),
    ...nodes(replacedNodes(added), false),
    ...nodes(ownNodes(added), true),
  ];
  const staysRegistered = before.includes('in') && (after.includes('in') || after.includes('out'));
  if (!staysRegistered) return steps;
  // with the other side VPP enables and disables this node itself
  const others = after.includes('out') ? ['in2out'] : replacedNodes(added);
  const back = replacedNodes(removed).filter((node) => !others.includes(node));
  return [...steps, ...nodes(back, true)];
}

/** The NAT44 features of one interface: one value per interface, so that a new pod adds one value. */
export function nat44InterfaceDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<Nat44Interface, undefined> {
  const indexOf = (value: Nat44Interface, ctx: OperationContext): number =>
    ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name: value.name })).swIfIndex;
  /**
   * Without a report of its nodes an interface has those of VPP: its classifier on both sides, and for an output alone the
   * output feature, which costs packets that enter a search, and changes none.
   */
  const rolesIn = (value: Nat44Interface): readonly Role[] => {
    if (knowsNodes(client)) return rolesOf(value);
    if (value.output_only) return ['output'];
    return rolesOf(value).map((role) => (role === 'classify' ? 'out' : role));
  };
  const set = (index: number, step: Step, hasWorkers: boolean): Promise<unknown> =>
    'node' in step
      ? setNode(client, index, step.node, step.isOn, hasWorkers)
      : setFeature(client, index, step.feature, step.isOn);
  /**
   * All requests are sent at once: until an inside interface has its classifier, VPP translates each packet
   * to a service as one from inside, and crashes at one to a mapping with affinity.
   */
  const change = (
    ctx: OperationContext,
    index: number,
    before: readonly Role[],
    after: readonly Role[],
  ): Promise<undefined> =>
    allOrNothing(log, async (undo) => {
      const { hasWorkers } = ctx.metadata<Nat44GlobalMetadata>(NAT44_GLOBAL_KEY);
      const features = new Set([...before, ...after].filter(isFeature));
      const isThere = (feature: Feature): boolean => {
        const hasChanged = steps.some(
          (step) => 'feature' in step && step.feature === feature && taken.has(step),
        );
        return before.includes(feature) !== hasChanged;
      };
      const take = async (step: Step): Promise<void> => {
        const request = set(index, step, hasWorkers);
        await (step.isOn ? request : ignoreNotFound(request));
      };
      const takeBack = async (step: Step): Promise<void> => {
        // VPP enables such a node with a feature: without one it was not enabled
        if ('node' in step && !addedNodes.includes(step.node) && !step.isOn) {
          const { node } = step;
          if (![...features].some((one) => nodesOf[one].includes(node) && isThere(one))) return;
          // beside the other side VPP has another one in its place
          if (node === 'in2out' && isThere('out')) return;
        }
        await set(index, { ...step, isOn: !step.isOn }, hasWorkers);
        // from here on its feature is as before
        taken.delete(step);
      };
      // the last steps back: a feature that is enabled again brings the nodes that are replaced
      for (const node of replacedNodes(before)) undo.add(() => take({ node, isOn: false }));
      const steps = stepsBetween(before, after);
      const taken = new Set<Step>();
      // in the order of the steps, not of their answers: VPP refuses a side until the output feature is off
      for (const step of steps)
        undo.add(async () => {
          if (taken.has(step)) await takeBack(step);
        });
      const results = steps.map(async (step) => {
        await take(step);
        taken.add(step);
      });
      await allSettled(results);
      return undefined;
    });

  /** The value with what its nodes say beside its features. */
  const withNodes = async (
    found: Nat44Interface,
    known: Nat44Interface | undefined,
    ctx: RetrieveContext,
  ): Promise<Nat44Interface> => {
    if (!knowsNodes(client)) {
      const classify = found.nat_inside && found.nat_outside && known?.classify === true;
      if (classify) return { ...found, nat_outside: false, classify };
      return { ...found, output_only: found.output_feature && known?.output_only === true };
    }
    if (!found.nat_inside || found.nat_outside) return found;
    const { hasWorkers } = ctx
      .retrieved<Nat44GlobalMetadata>('vpp-nat44-global')
      .get(NAT44_GLOBAL_KEY)!;
    const { swIfIndex } = ctx
      .retrieved<VppInterfaceMetadata>('vpp-interface')
      .get(vppInterfaceKey.build({ name: found.name }))!;
    const has = (node: NatNode): Promise<boolean> => hasNode(client, swIfIndex, node, hasWorkers);
    // nearly all interfaces classify: one question for each of them
    if (await has('classify')) return { ...found, classify: true };
    const isEdge = await has('output');
    return isEdge
      ? { ...found, nat_inside: false, output_feature: true, output_only: true }
      : found;
  };

  return defineDescriptor('vpp-nat44-interface', nat44InterfaceModel, {
    retrieveDependencies: ['vpp-interface', 'vpp-nat44-global'],
    validate(key, value) {
      checkField(key, value.name !== '', 'name', 'missing');
      const sides = value.nat_inside || value.nat_outside;
      checkField(
        key,
        !(value.output_feature && sides),
        'output_feature',
        'excludes nat_inside and nat_outside',
      );
      checkField(key, value.output_feature || sides, 'nat_inside', 'no feature is enabled');
      checkField(
        key,
        !value.output_only || value.output_feature,
        'output_only',
        'requires output_feature',
      );
      checkField(
        key,
        !value.classify || (value.nat_inside && !value.nat_outside),
        'classify',
        'requires nat_inside and excludes nat_outside',
      );
    },
    // VPP counts the inside and outside interfaces of each table, and removes all sessions of a table with
    // the last one, also if the interface came to the table after it was counted in another one
    dependencies: (_key, { name }) => [
      { label: 'nat44-enabled', key: NAT44_GLOBAL_KEY },
      { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
      {
        label: 'interface-in-vrf-table',
        anyOf: { prefixes: [interfaceVrfKey.prefix({ iface: name })] },
      },
    ],
    claims: (_key, value) =>
      // those of the output feature exclude others of the interface; VPP need not be connected
      (value.output_feature
        ? (['output'] as const)
        : rolesOf(value)
            .map((role) => (role === 'classify' ? 'out' : role))
            .filter(isFeature)
      ).flatMap((feature) => featureClaims(value.name, feature)),
    create: (_key, value, ctx) => change(ctx, indexOf(value, ctx), [], rolesIn(value)),
    update: (_key, before, after, _metadata, ctx) =>
      change(ctx, indexOf(after, ctx), rolesIn(before), rolesIn(after)),
    async delete(_key, value, _metadata, ctx) {
      await change(ctx, indexOf(value, ctx), rolesIn(value), []);
    },

    async retrieve(correlate, ctx) {
      if (!client.has('nat44_interface_dump')) return [];
      const [features, known] = [
        await readFeatures(client, ctx),
        new Map<string, Nat44Interface>(),
      ];
      for (const { value } of correlate) known.set(value.name, value);
      const taken = globalEntries(ctx);
      const found = [...features].map(async ([name, all]) => {
        const on = all.filter((feature) => !taken.features.has(`${name}/${feature}`));
        const key = nat44InterfaceKey.build({ name });
        if (on.length === 0 || ctx.only?.has(key) === false) return [];
        const value = nat44InterfaceModel.canonical({
          name,
          nat_inside: on.includes('in'),
          nat_outside: on.includes('out'),
          output_feature: on.includes('output'),
        });
        const shown = await withNodes(value, known.get(name), ctx);
        return [{ key, value: shown, origin: 'from-NB' as const }];
      });
      return (await Promise.all(found)).flat();
    },
  });
}
