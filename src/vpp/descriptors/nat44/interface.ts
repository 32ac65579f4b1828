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
import { canClassify, isClassifying, setInputNode } from './classifier.ts';
import { type Feature, featureClaims, readFeatures, setFeature } from './features.ts';
import { globalEntries, type Nat44GlobalMetadata } from './global.ts';
import { ignoreNotFound } from './ignored-retvals.ts';

type Role = Feature | 'classify';

function rolesOf(value: Nat44Interface): readonly Role[] {
  const roles: Role[] = [];
  if (value.nat_inside) roles.push('in');
  if (value.nat_outside) roles.push('out');
  if (value.output_feature) roles.push('output');
  if (value.classify) roles.push('classify');
  return roles;
}

interface Step {
  readonly what: Role | 'in2out';
  readonly isOn: boolean;
}

/**
 * A new side is enabled before the old one is disabled, so that no packet passes without NAT44. VPP refuses
 * the output feature beside a side: then what is old has to go first. VPP enables and disables the nodes
 * of the sides by itself, so the classifier comes after them, and goes before.
 */
function stepsBetween(before: readonly Role[], after: readonly Role[]): readonly Step[] {
  const removed = before.filter((role) => !after.includes(role));
  const added = after.filter((role) => !before.includes(role));
  const ofSides = (roles: readonly Role[], isOn: boolean): readonly Step[] =>
    roles.filter((role) => role !== 'classify').map((what) => ({ what, isOn }));
  const [on, off] = [ofSides(added, true), ofSides(removed, false)];
  const isEnd = removed.includes('classify');
  const isStart = added.includes('classify');
  const steps: Step[] = [];
  if (isEnd) steps.push({ what: 'classify', isOn: false });
  if (before.includes('output') || after.includes('output')) steps.push(...off, ...on);
  else steps.push(...on, ...off);
  if (isStart) steps.push({ what: 'in2out', isOn: false }, { what: 'classify', isOn: true });
  if (isEnd && after.length === 1 && after[0] === 'in') steps.push({ what: 'in2out', isOn: true });
  return steps;
}

/** The NAT44 features of one interface: one value per interface, so that a new pod adds one value. */
export function nat44InterfaceDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<Nat44Interface, undefined> {
  const indexOf = (value: Nat44Interface, ctx: OperationContext): number =>
    ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name: value.name })).swIfIndex;
  /** A classifier that VPP cannot report is the one that VPP enables on both sides. */
  const rolesIn = (value: Nat44Interface): readonly Role[] =>
    canClassify(client)
      ? rolesOf(value)
      : rolesOf(value).map((role) => (role === 'classify' ? 'out' : role));
  const set = (index: number, { what, isOn }: Step, hasWorkers: boolean): Promise<unknown> =>
    what === 'classify' || what === 'in2out'
      ? setInputNode(client, index, what, isOn, hasWorkers)
      : setFeature(client, index, what, isOn);
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
      let haveSidesChanged = true;
      const take = async (step: Step): Promise<void> => {
        const request = set(index, step, hasWorkers);
        await (step.isOn ? request : ignoreNotFound(request));
      };
      const takeBack = async ({ what, isOn }: Step): Promise<void> => {
        // VPP enables this node with a side: if that failed, it was not enabled
        if (what === 'in2out' && !isOn && !haveSidesChanged) return;
        await set(index, { what, isOn: !isOn }, hasWorkers);
      };
      // the last step back: a side that is enabled again brings the node that the classifier replaces
      if (before.includes('classify')) undo.add(() => take({ what: 'in2out', isOn: false }));
      const steps = stepsBetween(before, after);
      const taken = new Set<Step>();
      // in the order of the steps, not of their answers: VPP refuses a side until the output feature is off
      for (const step of steps)
        undo.add(async () => {
          if (taken.has(step)) await takeBack(step);
        });
      const results = steps.map(async (step) => {
        const isOfSide = step.what !== 'classify' && step.what !== 'in2out';
        try {
          await take(step);
        } catch (error) {
          if (isOfSide) haveSidesChanged = false;
          throw error;
        }
        taken.add(step);
      });
      await allSettled(results);
      return undefined;
    });

  const classifies = async (
    found: Nat44Interface,
    known: Nat44Interface | undefined,
    ctx: RetrieveContext,
  ): Promise<boolean> => {
    if (!found.nat_inside) return false;
    if (!canClassify(client)) return found.nat_outside && known?.classify === true;
    if (found.nat_outside) return false;
    const { hasWorkers } = ctx
      .retrieved<Nat44GlobalMetadata>('vpp-nat44-global')
      .get(NAT44_GLOBAL_KEY)!;
    const { swIfIndex } = ctx
      .retrieved<VppInterfaceMetadata>('vpp-interface')
      .get(vppInterfaceKey.build({ name: found.name }))!;
    return isClassifying(client, swIfIndex, hasWorkers);
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
      rolesOf(value).flatMap((role) =>
        featureClaims(value.name, role === 'classify' ? 'out' : role),
      ),
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
        const classify = await classifies(value, known.get(name), ctx);
        const shown = classify ? { ...value, nat_outside: false, classify } : value;
        return [{ key, value: shown, origin: 'from-NB' as const }];
      });
      return (await Promise.all(found)).flat();
    },
  });
}
