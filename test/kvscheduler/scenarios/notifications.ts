import type { Scenario } from './format.ts';

export const notifications: Scenario = {
  name: 'a reported value meets a dependency, and its deletion deletes the dependent',
  descriptors: [
    { name: 'one', prefix: 'a/', baseOnly: true, blind: true },
    {
      name: 'two',
      prefix: 'b/',
      needs: { 'b/2': ['a/1'], 'b/2/item2': ['a/1/item2'] },
      after: ['one'],
    },
  ],
  steps: [
    {
      title: 'a value waits for a value of the southbound',
      does: { commit: { 'b/2': ['item1', 'item2'] }, resync: true },
      expect: {
        record: {
          values: ['b/2 [item1 item2] from-NB'],
          executed: ['CREATE b/2: PENDING [item1 item2] (noop)'],
        },
        retrieves: ['two: b/2 [item1 item2]'],
        content: {},
        status: { 'b/2': 'PENDING CREATE [a/1]' },
        flags: ['last-update 1', 'value-state PENDING 1', 'unavailable 1', 'descriptor two 1'],
      },
    },
    {
      title: 'the value is reported',
      does: { notify: { 'a/1': { value: ['item1'], number: 10, unmanaged: true } } },
      expect: {
        record: {
          values: ['a/1 [item1] from-SB'],
          executed: [
            'CREATE a/1: OBTAINED [item1]',
            'CREATE b/2: PENDING [item1 item2] > CONFIGURED [item1 item2]',
            'CREATE b/2/item1: CONFIGURED item1 (derived)',
            'CREATE b/2/item2: PENDING item2 (noop derived)',
            'CREATE a/1/item1: OBTAINED item1 (property)',
          ],
        },
        content: {
          'a/1': '[item1] #10 unmanaged',
          'b/2': '[item1 item2] #0',
          'b/2/item1': 'item1',
        },
        status: {
          'a/1': 'OBTAINED',
          'a/1/item1': 'OBTAINED',
          'b/2': 'CONFIGURED CREATE',
          'b/2/item1': 'CONFIGURED CREATE',
          'b/2/item2': 'PENDING CREATE [a/1/item2]',
        },
        flags: [
          'last-update 6',
          'value-state CONFIGURED 2',
          'value-state OBTAINED 2',
          'value-state PENDING 2',
          'unavailable 2',
          'descriptor one 1',
          'descriptor two 4',
          'derived 3',
        ],
      },
    },
    {
      title: 'the reported value gets another derived value',
      unlike: ['flags: an unchanged derived value gets no new revision; in the Go agent it does'],
      does: { notify: { 'a/1': { value: ['item1', 'item2'], number: 11, unmanaged: true } } },
      expect: {
        record: {
          values: ['a/1 [item1 item2] from-SB'],
          executed: [
            'UPDATE a/1: OBTAINED [item1] > OBTAINED [item1 item2]',
            'CREATE a/1/item2: OBTAINED item2 (property)',
            'CREATE b/2/item2: PENDING item2 > CONFIGURED item2 (derived)',
          ],
        },
        content: {
          'a/1': '[item1 item2] #11 unmanaged',
          'b/2': '[item1 item2] #0',
          'b/2/item1': 'item1',
          'b/2/item2': 'item2',
        },
        status: {
          'a/1': 'OBTAINED',
          'a/1/item1': 'OBTAINED',
          'a/1/item2': 'OBTAINED',
          'b/2': 'CONFIGURED CREATE',
          'b/2/item1': 'CONFIGURED CREATE',
          'b/2/item2': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 9',
          'value-state CONFIGURED 3',
          'value-state OBTAINED 4',
          'value-state PENDING 2',
          'unavailable 2',
          'descriptor one 2',
          'descriptor two 5',
          'derived 5',
        ],
      },
    },
    {
      title: 'the value is reported as deleted',
      does: { notify: { 'a/1': null } },
      expect: {
        record: {
          values: ['a/1 - from-SB'],
          executed: [
            'DELETE a/1/item1: OBTAINED item1 > REMOVED (property)',
            'DELETE b/2/item2: CONFIGURED item2 > REMOVED (derived)',
            'DELETE a/1/item2: OBTAINED item2 > REMOVED (property)',
            'DELETE b/2/item1: CONFIGURED item1 > REMOVED (derived)',
            'DELETE b/2: CONFIGURED [item1 item2] > PENDING [item1 item2]',
            'DELETE a/1: OBTAINED [item1 item2] > REMOVED',
          ],
        },
        content: {},
        status: { 'b/2': 'PENDING DELETE [a/1]' },
        flags: [
          'last-update 10',
          'value-state CONFIGURED 3',
          'value-state OBTAINED 4',
          'value-state PENDING 3',
          'unavailable 3',
          'descriptor one 2',
          'descriptor two 6',
          'derived 5',
        ],
      },
    },
  ],
};
