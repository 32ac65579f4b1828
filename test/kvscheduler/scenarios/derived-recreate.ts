import type { Scenario } from './format.ts';

export const derivedRecreate: Scenario = {
  name: 'the creation of a derived value that is re-created fails',
  descriptors: [{ name: 'one', prefix: 'a/', recreates: ['a/1/item1'] }],
  steps: [
    {
      title: 'a value and its derived value',
      does: { commit: { 'a/1': ['item1=old'] } },
      expect: {
        record: {
          values: ['a/1 [item1=old] from-NB'],
          executed: [
            'CREATE a/1: CONFIGURED [item1=old]',
            'CREATE a/1/item1: CONFIGURED old (derived)',
          ],
        },
        content: { 'a/1': '[item1=old] #0', 'a/1/item1': 'old' },
        status: { 'a/1': 'CONFIGURED CREATE', 'a/1/item1': 'CONFIGURED CREATE' },
        flags: ['last-update 2', 'value-state CONFIGURED 2', 'descriptor one 2', 'derived 1'],
      },
    },
    {
      title: 'the derived value changes and is lost',
      fails: [
        {
          call: 'CREATE a/1/item1',
          error: 'no space',
          leaves: { 'a/1': { value: [], number: 0 } },
        },
      ],
      does: { commit: { 'a/1': ['item1=new'] } },
      expect: {
        failures: ['a/1/item1 (CREATE): no space'],
        record: {
          values: ['a/1 [item1=new] from-NB'],
          planned: [
            'UPDATE a/1: CONFIGURED [item1=old] > CONFIGURED [item1=new]',
            'DELETE a/1/item1: CONFIGURED old > REMOVED (derived recreate)',
            'CREATE a/1/item1: REMOVED > CONFIGURED new (derived recreate)',
          ],
          executed: [
            'UPDATE a/1: CONFIGURED [item1=old] > CONFIGURED [item1=new]',
            'DELETE a/1/item1: CONFIGURED old > REMOVED (derived recreate)',
            'CREATE a/1/item1: REMOVED > FAILED new !no space! (derived recreate)',
          ],
        },
        retrieves: ['one: a/1 [item1=new]'],
        content: { 'a/1': '[] #0' },
        status: { 'a/1': 'CONFIGURED UPDATE', 'a/1/item1': 'FAILED CREATE !no space!' },
        flags: [
          'last-update 4',
          'error 1',
          'value-state CONFIGURED 3',
          'value-state FAILED 1',
          'unavailable 1',
          'descriptor one 4',
          'derived 2',
        ],
      },
    },
  ],
};
