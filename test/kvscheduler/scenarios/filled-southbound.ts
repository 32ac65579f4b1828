import type { Scenario } from './format.ts';
import { unlikeRecreated } from './three-values.ts';

export const filledSouthbound: Scenario = {
  name: 'a resync updates or re-creates values of an earlier run',
  descriptors: [
    {
      name: 'one',
      prefix: 'a/',
      firstNumber: 3,
      needs: { 'a/2/item1': ['a/1'], 'a/2/item2': ['a/1/item1'] },
      recreates: ['a/3'],
    },
  ],
  before: {
    'a/1': { value: ['item1'], number: 0 },
    'a/1/item1': { value: 'item1' },
    'a/2': { value: ['item1'], number: 1 },
    'a/2/item1': { value: 'item1' },
    'a/3': { value: ['item1'], number: 2 },
    'a/3/item1': { value: 'item1' },
  },
  steps: [
    {
      title: 'all three values change',
      unlike: [unlikeRecreated.lastOperation('a/3')],
      does: {
        commit: { 'a/1': ['item2'], 'a/2': ['item1', 'item2'], 'a/3': ['item1', 'item2'] },
        resync: true,
      },
      expect: {
        record: {
          values: ['a/1 [item2] from-NB', 'a/2 [item1 item2] from-NB', 'a/3 [item1 item2] from-NB'],
          executed: [
            'DELETE a/3/item1: DISCOVERED item1 > REMOVED (derived recreate)',
            'DELETE a/3: DISCOVERED [item1] > REMOVED (recreate)',
            'CREATE a/3: REMOVED > CONFIGURED [item1 item2] (recreate)',
            'CREATE a/3/item1: CONFIGURED item1 (derived recreate)',
            'CREATE a/3/item2: CONFIGURED item2 (derived)',
            'DELETE a/1/item1: DISCOVERED item1 > REMOVED (derived)',
            'UPDATE a/1: DISCOVERED [item1] > CONFIGURED [item2]',
            'CREATE a/1/item2: CONFIGURED item2 (derived)',
            'UPDATE a/2: DISCOVERED [item1] > CONFIGURED [item1 item2]',
            'CREATE a/2/item2: PENDING item2 (noop derived)',
          ],
        },
        retrieves: ['one: a/1 [item2], a/2 [item1 item2], a/3 [item1 item2]'],
        content: {
          'a/1': '[item2] #0',
          'a/1/item2': 'item2',
          'a/2': '[item1 item2] #1',
          'a/2/item1': 'item1',
          'a/3': '[item1 item2] #3',
          'a/3/item1': 'item1',
          'a/3/item2': 'item2',
        },
        status: {
          'a/1': 'CONFIGURED UPDATE',
          'a/1/item2': 'CONFIGURED CREATE',
          'a/2': 'CONFIGURED UPDATE',
          'a/2/item1': 'CONFIGURED UPDATE',
          'a/2/item2': 'PENDING CREATE [a/1/item1]',
          'a/3': 'CONFIGURED CREATE',
          'a/3/item1': 'CONFIGURED CREATE',
          'a/3/item2': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 8',
          'value-state CONFIGURED 7',
          'value-state PENDING 1',
          'unavailable 1',
          'descriptor one 8',
          'derived 5',
        ],
      },
    },
  ],
};
