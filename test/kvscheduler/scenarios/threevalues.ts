import type { MockDescriptor, Step } from './format.ts';

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

export const createThreeValues: Step = {
  title: 'three values, of which a part has to wait',
  does: {
    commit: { 'b/2': ['item1', 'item2'], 'a/1': ['item2'], 'c/3': ['item1', 'item2'] },
    description: 'the first change',
  },
  expect: {
    record: {
      values: ['a/1 [item2] from-NB', 'b/2 [item1 item2] from-NB', 'c/3 [item1 item2] from-NB'],
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
    flags: [
      'last-update 8',
      'value-state CONFIGURED 7',
      'value-state PENDING 1',
      'unavailable 1',
      'descriptor one 2',
      'descriptor three 3',
      'descriptor two 3',
      'derived 5',
    ],
  },
};
