import type { Scenario } from './format.ts';
import { createThreeValues, threeKinds } from './threevalues.ts';

export const changes: Scenario = {
  name: 'changes re-create, update, and wake what waits',
  descriptors: threeKinds,
  steps: [
    createThreeValues,
    {
      title: 'one value is re-created, another changed in place',
      unlike: [
        'record: `item2` goes for good, which is no re-creation; the Go agent marks it as one because its base is re-created',
        'status of c/3: what was done last is the second half of the re-creation, a create; the Go agent calls the whole an update',
      ],
      does: { commit: { 'c/3': ['item1'], 'a/1': ['item1'] } },
      expect: {
        record: {
          values: ['a/1 [item1] from-NB', 'c/3 [item1] from-NB'],
          executed: [
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
        },
        content: {
          'a/1': '[item1] #0',
          'a/1/item1': 'item1',
          'b/2': '[item1 item2] #0',
          'b/2/item1': 'item1',
          'b/2/item2': 'item2',
          'c/3': '[item1] #1',
          'c/3/item1': 'item1',
        },
        status: {
          'a/1': 'CONFIGURED UPDATE',
          'a/1/item1': 'CONFIGURED CREATE',
          'b/2': 'CONFIGURED CREATE',
          'b/2/item1': 'CONFIGURED CREATE',
          'b/2/item2': 'CONFIGURED CREATE',
          'c/3': 'CONFIGURED CREATE',
          'c/3/item1': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 13',
          'value-state CONFIGURED 12',
          'value-state PENDING 1',
          'unavailable 1',
          'descriptor one 4',
          'descriptor three 5',
          'descriptor two 4',
          'derived 8',
        ],
      },
    },
  ],
};
