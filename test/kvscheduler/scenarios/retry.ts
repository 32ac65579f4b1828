import type { Scenario } from './format.ts';

export const resyncWithRetry: Scenario = {
  name: 'only values that failed in a resync are retried, after their delay',
  descriptors: [{ name: 'one', prefix: 'a/', firstNumber: 1 }],
  before: { 'a/1': { value: [], number: 0 } },
  steps: [
    {
      title: 'one of two derived values fails',
      fails: [
        {
          call: 'CREATE a/1/item2',
          error: 'no space',
          leaves: { 'a/1': { value: ['item1'], number: 0 } },
        },
      ],
      does: {
        commit: { 'a/1': ['item1', 'item2'] },
        resync: true,
        retry: { periodMs: 3000, maxAttempts: 3, exponential: false },
        description: 'with repetitions',
      },
      expect: {
        failures: ['a/1/item2 (CREATE): no space'],
        record: {
          values: ['a/1 [item1 item2] from-NB'],
          planned: [
            'UPDATE a/1: DISCOVERED [] > CONFIGURED [item1 item2]',
            'CREATE a/1/item1: CONFIGURED item1 (derived)',
            'CREATE a/1/item2: CONFIGURED item2 (derived)',
          ],
          executed: [
            'UPDATE a/1: DISCOVERED [] > CONFIGURED [item1 item2]',
            'CREATE a/1/item1: CONFIGURED item1 (derived)',
            'CREATE a/1/item2: RETRYING item2 !no space! (derived)',
          ],
        },
        retrieves: ['one: a/1 [item1 item2]', 'one: a/1 [item1 item2]'],
        content: { 'a/1': '[item1] #0', 'a/1/item1': 'item1' },
        status: {
          'a/1': 'CONFIGURED UPDATE',
          'a/1/item1': 'CONFIGURED CREATE',
          'a/1/item2': 'RETRYING CREATE !no space!',
        },
        flags: [
          'last-update 3',
          'error 1',
          'value-state CONFIGURED 2',
          'value-state RETRYING 1',
          'unavailable 1',
          'descriptor one 3',
          'derived 2',
        ],
      },
    },
    {
      title: 'the retry',
      unlike: [
        'status and flags: nothing is done to `item1`, so it shows no operation and gets no new revision; the Go agent applies it again',
      ],
      does: { pass: 3000 },
      expect: {
        record: {
          retry: { of: 0, attempt: 1 },
          values: ['a/1 [item1 item2] from-NB'],
          executed: [
            'UPDATE a/1: CONFIGURED [item1] > CONFIGURED [item1 item2] (retry)',
            'CREATE a/1/item2: RETRYING item2 !no space! > CONFIGURED item2 (derived retry)',
          ],
        },
        content: { 'a/1': '[item1 item2] #0', 'a/1/item1': 'item1', 'a/1/item2': 'item2' },
        status: {
          'a/1': 'CONFIGURED UPDATE',
          'a/1/item1': 'CONFIGURED CREATE',
          'a/1/item2': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 5',
          'error 1',
          'value-state CONFIGURED 4',
          'value-state RETRYING 1',
          'unavailable 1',
          'descriptor one 5',
          'derived 3',
        ],
      },
    },
  ],
};
