import type { MockDescriptor, Step, Values } from './format.ts';

/** Three descriptors with a value each: derived values of the second depend on the first and on one derived from it. */
export const mockDescriptors: readonly MockDescriptor[] = [
  { name: 'one', prefix: 'a/' },
  {
    name: 'two',
    prefix: 'b/',
    needs: { 'b/2/item1': ['a/1'], 'b/2/item2': ['a/1/item1'] },
    after: ['one'],
  },
  { name: 'three', prefix: 'c/', recreates: ['c/3'], after: ['two'] },
];

export const threeDesired: Values = {
  'b/2': ['item1', 'item2'],
  'a/1': ['item2'],
  'c/3': ['item1', 'item2'],
};

/** Arguments of the transaction in the record. */
export const threeArguments: readonly string[] = [
  'a/1 [item2] from-NB',
  'b/2 [item1 item2] from-NB',
  'c/3 [item1 item2] from-NB',
];

/** Flags of the graph when each value was set once. */
export const threeFlags: readonly string[] = [
  'last-update 8',
  'value-state CONFIGURED 7',
  'value-state PENDING 1',
  'unavailable 1',
  'descriptor one 2',
  'descriptor three 3',
  'descriptor two 3',
  'derived 5',
];

export const createThreeValues: Step = {
  title: 'three values, one derived value of which is pending',
  does: { commit: threeDesired, description: 'the first change' },
  expect: {
    record: {
      values: threeArguments,
      executed: [
        'CREATE a/1: CONFIGURED [item2]',
        'CREATE a/1/item2: CONFIGURED item2 (derived)',
        'CREATE b/2: CONFIGURED [item1 item2]',
        'CREATE b/2/item1: CONFIGURED item1 (derived)',
        'CREATE b/2/item2: PENDING item2 (noop derived)',
        'CREATE c/3: CONFIGURED [item1 item2]',
        'CREATE c/3/item1: CONFIGURED item1 (derived)',
        'CREATE c/3/item2: CONFIGURED item2 (derived)',
      ],
    },
    content: {
      'a/1': '[item2] #0',
      'a/1/item2': 'item2',
      'b/2': '[item1 item2] #0',
      'b/2/item1': 'item1',
      'c/3': '[item1 item2] #0',
      'c/3/item1': 'item1',
      'c/3/item2': 'item2',
    },
    status: {
      'a/1': 'CONFIGURED CREATE',
      'a/1/item2': 'CONFIGURED CREATE',
      'b/2': 'CONFIGURED CREATE',
      'b/2/item1': 'CONFIGURED CREATE',
      'b/2/item2': 'PENDING CREATE [a/1/item1]',
      'c/3': 'CONFIGURED CREATE',
      'c/3/item1': 'CONFIGURED CREATE',
      'c/3/item2': 'CONFIGURED CREATE',
    },
    flags: threeFlags,
  },
};

/** One value is re-created, another is updated, and a derived value of the third is pending no more. */
export const twoChanges = {
  desired: { 'c/3': ['item1'], 'a/1': ['item1'] },
  arguments: ['a/1 [item1] from-NB', 'c/3 [item1] from-NB'],
  operations: [
    'DELETE c/3/item1: CONFIGURED item1 > REMOVED (derived recreate)',
    'DELETE c/3/item2: CONFIGURED item2 > REMOVED (derived)',
    'DELETE c/3: CONFIGURED [item1 item2] > REMOVED (recreate)',
    'CREATE c/3: REMOVED > CONFIGURED [item1] (recreate)',
    'CREATE c/3/item1: CONFIGURED item1 (derived recreate)',
    'DELETE a/1/item2: CONFIGURED item2 > REMOVED (derived)',
    'UPDATE a/1: CONFIGURED [item2] > CONFIGURED [item1]',
    'CREATE a/1/item1: CONFIGURED item1 (derived)',
    'CREATE b/2/item2: PENDING item2 > CONFIGURED item2 (derived)',
  ],
} as const;

/** Differences to the Go agent when a value is re-created. */
export const unlikeRecreated = {
  lastOperation: (key: string): string =>
    `status of ${key}: the last operation is the create of the re-creation; the Go agent shows an update`,
  deletedPermanently:
    'record: `item2` is deleted permanently, which is no re-creation; the Go agent marks it as one because its base is re-created',
} as const;
