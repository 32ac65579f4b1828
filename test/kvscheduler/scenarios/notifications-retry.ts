import type { Scenario } from './format.ts';

export const notificationsWithRetry: Scenario = {
  name: 'a failure after a report is retried by the policy of the transaction that set the value',
  descriptors: [
    { name: 'one', prefix: 'a/', blind: true },
    { name: 'two', prefix: 'b/', needs: { 'b/2': ['a/1'], 'b/2/item2': ['a/1/item2'] } },
    { name: 'three', prefix: 'c/', needs: { 'c/3': ['a/'] }, after: ['two'] },
  ],
  steps: [
    {
      title: 'a value with one policy',
      does: {
        commit: { 'b/2': ['item1', 'item2'] },
        retry: { periodMs: 1000, maxAttempts: 3, exponential: true },
      },
      expect: {
        record: {
          values: ['b/2 [item1 item2] from-NB'],
          executed: ['CREATE b/2: PENDING [item1 item2] (noop)'],
        },
        content: {},
        status: { 'b/2': 'PENDING CREATE [a/1]' },
        flags: ['last-update 1', 'value-state PENDING 1', 'unavailable 1', 'descriptor two 1'],
      },
    },
    {
      title: 'a value with another one',
      does: {
        commit: { 'c/3': 'third' },
        retry: { periodMs: 3000, maxAttempts: 3, exponential: true },
      },
      expect: {
        record: {
          values: ['c/3 third from-NB'],
          executed: ['CREATE c/3: PENDING third (noop)'],
        },
        content: {},
        status: { 'b/2': 'PENDING CREATE [a/1]', 'c/3': 'PENDING CREATE [a/]' },
        flags: [
          'last-update 2',
          'value-state PENDING 2',
          'unavailable 2',
          'descriptor three 1',
          'descriptor two 1',
        ],
      },
    },
    {
      title: 'the dependency of both values is reported, and both fail',
      unlike: [
        'retrieves: a value whose creation failed is in the list too, since it may exist partially; the Go agent omits it',
      ],
      fails: [
        {
          call: 'CREATE b/2/item2',
          error: 'no space for a part',
          leaves: { 'b/2': { value: ['item1'], number: 0 } },
        },
        { call: 'CREATE c/3', error: 'no space' },
      ],
      does: { notify: { 'a/1': { value: ['item1', 'item2'], number: 10, unmanaged: true } } },
      expect: {
        record: {
          values: ['a/1 [item1 item2] from-SB'],
          planned: [
            'CREATE a/1: OBTAINED [item1 item2]',
            'CREATE b/2: PENDING [item1 item2] > CONFIGURED [item1 item2]',
            'CREATE b/2/item1: CONFIGURED item1 (derived)',
            'CREATE c/3: PENDING third > CONFIGURED third',
            'CREATE a/1/item1: OBTAINED item1 (derived)',
            'CREATE a/1/item2: OBTAINED item2 (derived)',
            'CREATE b/2/item2: CONFIGURED item2 (derived)',
          ],
          executed: [
            'CREATE a/1: OBTAINED [item1 item2]',
            'CREATE b/2: PENDING [item1 item2] > CONFIGURED [item1 item2]',
            'CREATE b/2/item1: CONFIGURED item1 (derived)',
            'CREATE c/3: PENDING third > RETRYING third !no space!',
            'CREATE a/1/item1: OBTAINED item1 (derived)',
            'CREATE a/1/item2: OBTAINED item2 (derived)',
            'CREATE b/2/item2: RETRYING item2 !no space for a part! (derived)',
          ],
        },
        retrieves: ['two: b/2 [item1 item2]', 'three: c/3 third'],
        content: {
          'a/1': '[item1 item2] #10 unmanaged',
          'b/2': '[item1] #0',
          'b/2/item1': 'item1',
        },
        status: {
          'a/1': 'OBTAINED',
          'a/1/item1': 'OBTAINED',
          'a/1/item2': 'OBTAINED',
          'b/2': 'CONFIGURED CREATE',
          'b/2/item1': 'CONFIGURED CREATE',
          'b/2/item2': 'RETRYING CREATE !no space for a part!',
          'c/3': 'RETRYING CREATE !no space!',
        },
        flags: [
          'last-update 9',
          'error 2',
          'value-state CONFIGURED 2',
          'value-state OBTAINED 3',
          'value-state PENDING 2',
          'value-state RETRYING 2',
          'unavailable 4',
          'descriptor one 3',
          'descriptor three 2',
          'descriptor two 4',
          'derived 4',
        ],
      },
    },
    {
      title: 'a second later the derived value is retried',
      unlike: [
        'status of `item1`: nothing is done to it, so it shows no operation; the Go agent applies it once more',
      ],
      does: { pass: 1000 },
      expect: {
        record: {
          retry: { of: 2, attempt: 1 },
          values: ['b/2 [item1 item2] from-NB'],
          executed: [
            'UPDATE b/2: CONFIGURED [item1] > CONFIGURED [item1 item2] (retry)',
            'CREATE b/2/item2: RETRYING item2 !no space for a part! > CONFIGURED item2 (derived retry)',
          ],
        },
        content: {
          'a/1': '[item1 item2] #10 unmanaged',
          'b/2': '[item1 item2] #0',
          'b/2/item1': 'item1',
          'b/2/item2': 'item2',
        },
        status: {
          'a/1': 'OBTAINED',
          'a/1/item1': 'OBTAINED',
          'a/1/item2': 'OBTAINED',
          'b/2': 'CONFIGURED UPDATE',
          'b/2/item1': 'CONFIGURED CREATE',
          'b/2/item2': 'CONFIGURED CREATE',
          'c/3': 'RETRYING CREATE !no space!',
        },
        flags: [
          'last-update 11',
          'error 2',
          'value-state CONFIGURED 4',
          'value-state OBTAINED 3',
          'value-state PENDING 2',
          'value-state RETRYING 2',
          'unavailable 4',
          'descriptor one 3',
          'descriptor three 2',
          'descriptor two 6',
          'derived 5',
        ],
      },
    },
    {
      title: 'two seconds later the other value is retried',
      does: { pass: 2000 },
      expect: {
        record: {
          retry: { of: 2, attempt: 1 },
          values: ['c/3 third from-NB'],
          executed: ['CREATE c/3: RETRYING third !no space! > CONFIGURED third (retry)'],
        },
        content: {
          'a/1': '[item1 item2] #10 unmanaged',
          'b/2': '[item1 item2] #0',
          'b/2/item1': 'item1',
          'b/2/item2': 'item2',
          'c/3': 'third #0',
        },
        status: {
          'a/1': 'OBTAINED',
          'a/1/item1': 'OBTAINED',
          'a/1/item2': 'OBTAINED',
          'b/2': 'CONFIGURED UPDATE',
          'b/2/item1': 'CONFIGURED CREATE',
          'b/2/item2': 'CONFIGURED CREATE',
          'c/3': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 12',
          'error 2',
          'value-state CONFIGURED 5',
          'value-state OBTAINED 3',
          'value-state PENDING 2',
          'value-state RETRYING 2',
          'unavailable 4',
          'descriptor one 3',
          'descriptor three 3',
          'descriptor two 6',
          'derived 5',
        ],
      },
    },
  ],
};
