import type { MockDescriptor, Step, Values } from './format.ts';

/** A value of each of three descriptors; parts of the second need the first and a part of it. */
export const threeKinds: readonly MockDescriptor[] = [
  { name: 'one', prefix: 'a/' },
  {
    name: 'two',
    prefix: 'b/',
    needs: { 'b/2/item1': ['a/1'], 'b/2/item2': ['a/1/item1'] },
    after: ['one'],
  },
  { name: 'three', prefix: 'c/', recreates: ['c/3'], after: ['two'] },
];

export const threeWishes: Values = {
  'b/2': ['item1', 'item2'],
  'a/1': ['item2'],
  'c/3': ['item1', 'item2'],
};

/** How a record tells of them. */
export const threeArguments: readonly string[] = [
  'a/1 [item2] from-NB',
  'b/2 [item1 item2] from-NB',
  'c/3 [item1 item2] from-NB',
];

/** What the graph knows of them, if each has been told of once. */
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
  title: 'three values, of which a part has to wait',
  does: { commit: threeWishes, description: 'the first change' },
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

/** One is re-created, another changed in place, and a part of the third need not wait any more. */
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

/** Where the Go agent does otherwise when a value is re-created. */
export const unlikeRecreated = {
  lastOperation: (key: string): string =>
    `status of ${key}: what was done last is the second half of the re-creation, a create; the Go agent calls the whole an update`,
  goneForGood:
    'record: `item2` goes for good, which is no re-creation; the Go agent marks it as one because its base is re-created',
} as const;
