import type { Scenario } from './format.ts';

export const derivedStays: Scenario = {
  name: 'a value exists as long as a value derived from it cannot be deleted',
  descriptors: [{ name: 'one', prefix: 'a/' }],
  steps: [
    {
      title: 'a value and its derived value',
      does: { commit: { 'a/1': ['item1'] } },
      expect: {
        record: {
          values: ['a/1 [item1] from-NB'],
          executed: [
            'CREATE a/1: CONFIGURED [item1]',
            'CREATE a/1/item1: CONFIGURED item1 (derived)',
          ],
        },
        content: { 'a/1': '[item1] #0', 'a/1/item1': 'item1' },
        status: { 'a/1': 'CONFIGURED CREATE', 'a/1/item1': 'CONFIGURED CREATE' },
        flags: ['last-update 2', 'value-state CONFIGURED 2', 'descriptor one 2', 'derived 1'],
      },
    },
    {
      title: 'the deletion of the derived value fails',
      unlike: [
        'status of a/1: nothing was done to it; the Go agent shows the delete that it did not come to',
      ],
      fails: [
        {
          call: 'DELETE a/1/item1',
          error: 'in use',
          leaves: { 'a/1': { value: ['item1'], number: 0 } },
        },
      ],
      does: { commit: { 'a/1': null } },
      expect: {
        failures: ['a/1/item1 (DELETE): in use'],
        record: {
          values: ['a/1 - from-NB'],
          planned: [
            'DELETE a/1/item1: CONFIGURED item1 > REMOVED (derived)',
            'DELETE a/1: CONFIGURED [item1] > REMOVED',
          ],
          executed: ['DELETE a/1/item1: CONFIGURED item1 > FAILED !in use! (derived)'],
        },
        retrieves: ['one: a/1 [item1]'],
        content: { 'a/1': '[item1] #0', 'a/1/item1': 'item1' },
        status: { 'a/1': 'CONFIGURED CREATE', 'a/1/item1': 'FAILED DELETE !in use!' },
        flags: [
          'last-update 4',
          'error 1',
          'value-state CONFIGURED 3',
          'value-state FAILED 1',
          'unavailable 2',
          'descriptor one 4',
          'derived 2',
        ],
      },
    },
  ],
};
