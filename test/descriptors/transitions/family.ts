/**
 * The table of the transition suites. The files in `families/` list the configurations of values; the
 * suites apply every change from one configuration to another on every backend.
 */
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { MessageModel } from '#models/define.ts';
import { linuxHostNameKey } from '#models/linux/derived.ts';
import type { DeepInput } from '#models/model.ts';
import type { Example } from '../compliance/suite.ts';

export interface Configuration {
  readonly name: string;
  readonly value: object;
}

/** Configurations of one value; its absence is one more of them. */
export interface Family {
  readonly name: string;
  readonly key: string;
  readonly configurations: readonly Configuration[];
  /** Prerequisites; they keep their configuration. */
  readonly setup: readonly KeyedValue[];
  /** Values that depend on this one, and are pending whenever it does not meet their dependencies. */
  readonly dependents?: readonly KeyedValue[];
  /** VPP must be able to create TAPs. */
  readonly requiresTaps?: true;
  /** Uses an unmanaged object: once it is not desired, nothing shows that the agent used it. */
  readonly isUnmarked?: true;
}

interface FamilyInput<T extends object>
  extends Omit<Family, 'key' | 'configurations' | 'setup' | 'name'> {
  readonly model: MessageModel<T>;
  readonly base: DeepInput<T>;
  readonly setup?: readonly KeyedValue[];
  /** Alternatives of fields: each alone, then the first ones of all fields together, the second ones … */
  readonly fields?: { readonly [F in keyof DeepInput<T>]?: readonly DeepInput<T>[F][] };
  /** Further whole values. */
  readonly others?: Readonly<Record<string, DeepInput<T>>>;
}

/** @throws Error when the configurations are not all of one key */
export function family<T extends object>(name: string, input: FamilyInput<T>): Family {
  const { model, base, setup = [], fields = {}, others = {}, ...rest } = input;
  const inputs: [string, DeepInput<T>][] = [
    ['base', base],
    ...alternatives(base, fields as Record<string, readonly unknown[]>),
    ...Object.entries(others),
  ];
  const found = new Map<string, Configuration>();
  const keys = new Set<string>();
  for (const [label, one] of inputs) {
    const value = model.canonical(one);
    keys.add(model.key(value));
    const text = JSON.stringify(value);
    if (!found.has(text)) found.set(text, { name: label, value });
  }
  const [key = ''] = keys;
  if (keys.size !== 1) throw new Error(`${name}: not one value: ${[...keys].join(', ')}`);
  return { name, key, configurations: [...found.values()], setup, ...rest };
}

/**
 * The examples of the compliance suite as families: examples of one key with the same prerequisites are
 * configurations of one family. Unmanaged links exist by themselves.
 */
export function familiesOf(examples: readonly Example[]): readonly Family[] {
  const found = new Map<string, Family & { configurations: Configuration[] }>();
  for (const { name, value, change, setup = [], isUnmarked, requiresTaps } of examples) {
    const around = setup.filter(({ key }) => linuxHostNameKey.parse(key) === undefined);
    const id = JSON.stringify([value.key, around]);
    const known = found.get(id) ?? {
      name: `example ${name}`,
      key: value.key,
      configurations: [],
      setup: around,
      ...(isUnmarked && { isUnmarked }),
      ...(requiresTaps && { requiresTaps }),
    };
    found.set(id, known);
    known.configurations.push({ name, value: value.value });
    if (change) known.configurations.push({ name: `${name}, changed`, value: change.to });
  }
  return [...found.values()];
}

function alternatives<T extends object>(
  base: DeepInput<T>,
  fields: Readonly<Record<string, readonly unknown[]>>,
): [string, DeepInput<T>][] {
  const alone = Object.entries(fields).flatMap(([field, values]) =>
    values.map((value): [string, DeepInput<T>] => [
      `${field} ${JSON.stringify(value)}`,
      { ...base, [field]: value },
    ]),
  );
  const most = Math.max(0, ...Object.values(fields).map((values) => values.length));
  const together = Array.from({ length: most }, (_, i): [string, DeepInput<T>] => {
    const changed = Object.entries(fields).map(([field, values]) => [
      field,
      values[i % values.length],
    ]);
    return [`everything else, ${i + 1}`, { ...base, ...Object.fromEntries(changed) }];
  });
  return [...alone, ...together];
}

/** Walks from 0 over every ordered pair of n points exactly once and back to 0. */
export function* tour(n: number): Generator<number> {
  for (let i = 0; i < n; i++) {
    if (i > 0) yield i;
    for (let j = i + 2; j < n; j++) {
      yield j;
      yield i;
    }
  }
  for (let i = n - 2; i >= 0; i--) yield i;
}
