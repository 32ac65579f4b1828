import type { Scenario } from './format.ts';

export const emptyResync: Scenario = {
  name: 'a resync without desired values on an empty southbound reads back and does nothing',
  descriptors: [{ name: 'one', prefix: 'a/' }],
  steps: [
    {
      title: 'an empty resync',
      does: { commit: {}, resync: true, description: 'nothing at all' },
      expect: {
        record: { values: [], executed: [] },
        retrieves: ['one: '],
        content: {},
        status: {},
        flags: [],
      },
    },
  ],
};
