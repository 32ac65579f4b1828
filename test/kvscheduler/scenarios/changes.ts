import type { Scenario } from './format.ts';
import { createThreeValues, mockDescriptors, twoChanges, unlikeRecreated } from './three-values.ts';

export const changes: Scenario = {
  name: 'changes re-create values, update values, and meet dependencies of pending values',
  descriptors: mockDescriptors,
  steps: [
    createThreeValues,
    {
      title: 'one value is re-created, another changed in place',
      unlike: [unlikeRecreated.deletedPermanently, unlikeRecreated.lastOperation('c/3')],
      does: { commit: twoChanges.desired },
      expect: {
        record: {
          values: twoChanges.arguments,
          executed: twoChanges.operations,
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
