import type { Scenario } from './format.ts';

export const unmanagedValue: Scenario = {
  name: 'a resync does not change an unmanaged value, and managed values may depend on it',
  descriptors: [{ name: 'one', prefix: 'a/', needs: { 'a/2': ['a/1'] } }],
  before: { 'a/1': { value: 'external', unmanaged: true } },
  steps: [
    {
      title: 'a value that depends on the unmanaged one',
      does: { commit: { 'a/2': ['item1'] }, resync: true },
      expect: {
        record: {
          values: ['a/1 external from-SB', 'a/2 [item1] from-NB'],
          executed: [
            'CREATE a/2: CONFIGURED [item1]',
            'CREATE a/2/item1: CONFIGURED item1 (derived)',
          ],
        },
        retrieves: ['one: a/2 [item1]'],
        content: { 'a/1': 'external unmanaged', 'a/2': '[item1] #0', 'a/2/item1': 'item1' },
        status: {
          'a/1': 'OBTAINED',
          'a/2': 'CONFIGURED CREATE',
          'a/2/item1': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 3',
          'value-state CONFIGURED 2',
          'value-state OBTAINED 1',
          'descriptor one 3',
          'derived 1',
        ],
      },
    },
  ],
};
