import type { Scenario } from './format.ts';

export const foreignValue: Scenario = {
  name: 'a resync leaves alone what somebody else made, and lets ours depend on it',
  descriptors: [{ name: 'one', prefix: 'a/', needs: { 'a/2': ['a/1'] } }],
  before: { 'a/1': { value: 'theirs', foreign: true } },
  steps: [
    {
      title: 'a value that needs theirs',
      does: { commit: { 'a/2': ['item1'] }, resync: true },
      expect: {
        record: {
          values: ['a/1 theirs from-SB', 'a/2 [item1] from-NB'],
          executed: [
            'CREATE a/2: CONFIGURED [item1]',
            'CREATE a/2/item1: CONFIGURED item1 (derived)',
          ],
        },
        retrieves: ['one: a/2 [item1]'],
        content: { 'a/1': 'theirs foreign', 'a/2': '[item1] #0', 'a/2/item1': 'item1' },
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
