import type { Scenario } from './format.ts';
import { createThreeValues, mockDescriptors, twoChanges, unlikeRecreated } from './three-values.ts';

export const revert: Scenario = {
  name: 'an all-or-nothing transaction is undone when one of its operations fails',
  descriptors: mockDescriptors,
  steps: [
    createThreeValues,
    {
      title: 'an update fails and leaves the value empty',
      unlike: [
        'executed: operations are executed level by level, so that many may be in flight at once, and the level of the failure is the last; the Go agent continues with c/3 first, then undoes that too',
        'executed: what is undone in the same transaction was REMOVED, base or derived; the Go agent does not know derived ones any more',
        unlikeRecreated.deletedPermanently,
        unlikeRecreated.lastOperation('c/3'),
        'retrieves: the list has the previous value, which a failed update may have left; the Go agent passes the value that could not be configured',
        'flags: the time line has the result of a transaction, and its record the operations; the Go agent has a revision of the failure too',
      ],
      fails: [
        {
          call: 'UPDATE a/1',
          error: 'refused',
          leaves: { 'a/1': { value: [], number: 0 } },
        },
      ],
      does: { commit: twoChanges.desired, revert: true },
      expect: {
        failures: ['a/1 (UPDATE): refused'],
        record: {
          values: twoChanges.arguments,
          planned: twoChanges.operations,
          executed: [
            'DELETE c/3/item1: CONFIGURED item1 > REMOVED (derived recreate)',
            'DELETE c/3/item2: CONFIGURED item2 > REMOVED (derived)',
            'DELETE c/3: CONFIGURED [item1 item2] > REMOVED (recreate)',
            'DELETE a/1/item2: CONFIGURED item2 > REMOVED (derived)',
            'UPDATE a/1: CONFIGURED [item2] > FAILED [item1] !refused!',
            'UPDATE a/1: FAILED [] !refused! > CONFIGURED [item2] (revert)',
            'CREATE a/1/item2: REMOVED > CONFIGURED item2 (derived revert)',
            'CREATE c/3: REMOVED > CONFIGURED [item1 item2] (revert)',
            'CREATE c/3/item1: REMOVED > CONFIGURED item1 (derived revert)',
            'CREATE c/3/item2: REMOVED > CONFIGURED item2 (derived revert)',
          ],
        },
        retrieves: ['one: a/1 [item2]'],
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
          'b/2': 'CONFIGURED CREATE',
          'b/2/item1': 'CONFIGURED CREATE',
          'b/2/item2': 'PENDING CREATE [a/1/item1]',
          'c/3': 'CONFIGURED CREATE',
          'c/3/item1': 'CONFIGURED CREATE',
          'c/3/item2': 'CONFIGURED CREATE',
        },
        flags: [
          'last-update 13',
          'value-state CONFIGURED 12',
          'value-state PENDING 1',
          'unavailable 1',
          'descriptor one 4',
          'descriptor three 6',
          'descriptor two 3',
          'derived 8',
        ],
      },
    },
  ],
};
