import type { Scenario } from './format.ts';

export const cycle: Scenario = {
  name: 'values in a cycle of dependencies are created together and deleted together',
  descriptors: [
    {
      name: 'one',
      prefix: 'a/',
      blind: true,
      needs: { 'a/1': ['a/2'], 'a/2': ['a/3'], 'a/3': ['a/1', 'a/4'] },
    },
  ],
  steps: [
    {
      title: 'the cycle is pending until its external dependency is met',
      does: {
        commit: { 'a/1': 'first', 'a/2': 'second', 'a/3': 'third' },
        description: 'a cycle',
      },
      expect: {
        record: {
          values: ['a/1 first from-NB', 'a/2 second from-NB', 'a/3 third from-NB'],
          executed: [
            'CREATE a/1: PENDING first (noop)',
            'CREATE a/2: PENDING second (noop)',
            'CREATE a/3: PENDING third (noop)',
          ],
        },
        content: {},
        status: {
          'a/1': 'PENDING CREATE [a/2]',
          'a/2': 'PENDING CREATE [a/3]',
          'a/3': 'PENDING CREATE [a/1 a/4]',
        },
        flags: ['last-update 3', 'value-state PENDING 3', 'unavailable 3', 'descriptor one 3'],
      },
    },
    {
      title: 'the external dependency is created',
      does: { commit: { 'a/4': 'fourth' } },
      expect: {
        record: {
          values: ['a/4 fourth from-NB'],
          executed: [
            'CREATE a/4: CONFIGURED fourth',
            'CREATE a/3: PENDING third > CONFIGURED third',
            'CREATE a/2: PENDING second > CONFIGURED second',
            'CREATE a/1: PENDING first > CONFIGURED first',
          ],
        },
        content: { 'a/1': 'first #3', 'a/2': 'second #2', 'a/3': 'third #1', 'a/4': 'fourth #0' },
        status: {
          'a/1': 'CONFIGURED CREATE',
          'a/2': 'CONFIGURED CREATE',
          'a/3': 'CONFIGURED CREATE',
          'a/4': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 7',
          'value-state CONFIGURED 4',
          'value-state PENDING 3',
          'unavailable 3',
          'descriptor one 7',
        ],
      },
    },
    {
      title: 'the deletion of a member fails',
      fails: [{ call: 'DELETE a/2', error: 'in use' }],
      does: { commit: { 'a/2': null } },
      expect: {
        failures: ['a/2 (DELETE): in use'],
        record: {
          values: ['a/2 - from-NB'],
          planned: [
            'DELETE a/3: CONFIGURED third > PENDING third',
            'DELETE a/1: CONFIGURED first > PENDING first',
            'DELETE a/2: CONFIGURED second > REMOVED',
          ],
          executed: [
            'DELETE a/3: CONFIGURED third > PENDING third',
            'DELETE a/1: CONFIGURED first > PENDING first',
            'DELETE a/2: CONFIGURED second > FAILED !in use!',
          ],
        },
        content: { 'a/2': 'second #2', 'a/4': 'fourth #0' },
        status: {
          'a/1': 'PENDING DELETE [a/2]',
          'a/2': 'FAILED DELETE !in use!',
          'a/3': 'PENDING DELETE [a/1]',
          'a/4': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 10',
          'error 1',
          'value-state CONFIGURED 4',
          'value-state FAILED 1',
          'value-state PENDING 5',
          'unavailable 6',
          'descriptor one 10',
        ],
      },
    },
    {
      title: 'the member is desired again, with another value',
      unlike: [
        'record and status: a value that could not be deleted still exists and is updated; the Go agent creates it a second time',
      ],
      does: { commit: { 'a/2': 'changed second' } },
      expect: {
        record: {
          values: ['a/2 changed second from-NB'],
          executed: [
            'CREATE a/1: PENDING first > CONFIGURED first',
            'CREATE a/3: PENDING third > CONFIGURED third',
            'UPDATE a/2: FAILED second !in use! > CONFIGURED changed second',
          ],
        },
        content: {
          'a/1': 'first #4',
          'a/2': 'changed second #2',
          'a/3': 'third #5',
          'a/4': 'fourth #0',
        },
        status: {
          'a/1': 'CONFIGURED CREATE',
          'a/2': 'CONFIGURED UPDATE',
          'a/3': 'CONFIGURED CREATE',
          'a/4': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 13',
          'error 1',
          'value-state CONFIGURED 7',
          'value-state FAILED 1',
          'value-state PENDING 5',
          'unavailable 6',
          'descriptor one 13',
        ],
      },
    },
  ],
};
