import type { Scenario } from './format.ts';
import {
  mockDescriptors,
  threeArguments,
  threeDesired,
  threeFlags,
  unlikeRecreated,
} from './three-values.ts';

export const threeDescriptors: Scenario = {
  name: 'a resync reads descriptors back in the order of their dependencies, and meets dependencies between them',
  descriptors: mockDescriptors.map((one) => ({ ...one, firstNumber: 1 })),
  before: {
    'a/1': { value: ['item1'], number: 0 },
    'a/1/item1': { value: 'item1' },
    'b/2': { value: ['item1'], number: 0 },
    'b/2/item1': { value: 'item1' },
    'c/3': { value: ['item1'], number: 0 },
    'c/3/item1': { value: 'item1' },
  },
  steps: [
    {
      title: 'all three values change',
      unlike: [unlikeRecreated.lastOperation('c/3')],
      does: { commit: threeDesired, resync: true },
      expect: {
        record: {
          values: threeArguments,
          executed: [
            'DELETE c/3/item1: DISCOVERED item1 > REMOVED (derived recreate)',
            'DELETE c/3: DISCOVERED [item1] > REMOVED (recreate)',
            'CREATE c/3: REMOVED > CONFIGURED [item1 item2] (recreate)',
            'CREATE c/3/item1: CONFIGURED item1 (derived recreate)',
            'CREATE c/3/item2: CONFIGURED item2 (derived)',
            'DELETE a/1/item1: DISCOVERED item1 > REMOVED (derived)',
            'UPDATE a/1: DISCOVERED [item1] > CONFIGURED [item2]',
            'CREATE a/1/item2: CONFIGURED item2 (derived)',
            'UPDATE b/2: DISCOVERED [item1] > CONFIGURED [item1 item2]',
            'CREATE b/2/item2: PENDING item2 (noop derived)',
          ],
        },
        retrieves: ['one: a/1 [item2]', 'two: b/2 [item1 item2]', 'three: c/3 [item1 item2]'],
        content: {
          'a/1': '[item2] #0',
          'a/1/item2': 'item2',
          'b/2': '[item1 item2] #0',
          'b/2/item1': 'item1',
          'c/3': '[item1 item2] #1',
          'c/3/item1': 'item1',
          'c/3/item2': 'item2',
        },
        status: {
          'a/1': 'CONFIGURED UPDATE',
          'a/1/item2': 'CONFIGURED CREATE',
          'b/2': 'CONFIGURED UPDATE',
          'b/2/item1': 'CONFIGURED UPDATE',
          'b/2/item2': 'PENDING CREATE [a/1/item1]',
          'c/3': 'CONFIGURED CREATE',
          'c/3/item1': 'CONFIGURED CREATE',
          'c/3/item2': 'CONFIGURED CREATE',
        },
        flags: threeFlags,
      },
    },
  ],
};
