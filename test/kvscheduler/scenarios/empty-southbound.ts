import type { Scenario } from './format.ts';

export const emptySouthbound: Scenario = {
  name: 'a resync fills an empty southbound, across dependencies of base and derived values',
  descriptors: [
    {
      name: 'one',
      prefix: 'a/',
      needs: { 'a/2': ['a/1/item1'], 'a/1/item2': ['a/2/item1'] },
    },
  ],
  steps: [
    {
      title: 'two values that depend on derived values of each other',
      does: {
        commit: { 'a/2': ['item1'], 'a/1': ['item1', 'item2'] },
        resync: true,
        description: 'fill it',
      },
      expect: {
        record: {
          values: ['a/1 [item1 item2] from-NB', 'a/2 [item1] from-NB'],
          executed: [
            'CREATE a/1: CONFIGURED [item1 item2]',
            'CREATE a/1/item1: CONFIGURED item1 (derived)',
            'CREATE a/2: CONFIGURED [item1]',
            'CREATE a/2/item1: CONFIGURED item1 (derived)',
            'CREATE a/1/item2: CONFIGURED item2 (derived)',
          ],
        },
        retrieves: ['one: a/1 [item1 item2], a/2 [item1]'],
        content: {
          'a/1': '[item1 item2] #0',
          'a/1/item1': 'item1',
          'a/1/item2': 'item2',
          'a/2': '[item1] #1',
          'a/2/item1': 'item1',
        },
        status: {
          'a/1': 'CONFIGURED CREATE',
          'a/1/item1': 'CONFIGURED CREATE',
          'a/1/item2': 'CONFIGURED CREATE',
          'a/2': 'CONFIGURED CREATE',
          'a/2/item1': 'CONFIGURED CREATE',
        },
        flags: ['last-update 5', 'value-state CONFIGURED 5', 'descriptor one 5', 'derived 3'],
      },
    },
    {
      title: 'a resync without values deletes everything',
      unlike: [
        'flags: a removed value has no revision of its own here, its time line ends; the Go agent keeps one with the state REMOVED for each of the two base values',
      ],
      does: { commit: {}, resync: true },
      expect: {
        record: {
          values: ['a/1 - from-NB', 'a/2 - from-NB'],
          executed: [
            'DELETE a/1/item2: CONFIGURED item2 > REMOVED (derived)',
            'DELETE a/2/item1: CONFIGURED item1 > REMOVED (derived)',
            'DELETE a/2: CONFIGURED [item1] > REMOVED',
            'DELETE a/1/item1: CONFIGURED item1 > REMOVED (derived)',
            'DELETE a/1: CONFIGURED [item1 item2] > REMOVED',
          ],
        },
        retrieves: ['one: a/1 [item1 item2], a/2 [item1]'],
        content: {},
        status: {},
        flags: ['last-update 5', 'value-state CONFIGURED 5', 'descriptor one 5', 'derived 3'],
      },
    },
  ],
};
