import { describe, it } from 'node:test';
import { MemoryStore } from '#test/support/memory-store.ts';
import { keepTunnels } from './wiped-database.ts';

describe('agents whose database is wiped and written again', { timeout: 60_000 }, () => {
  it('keep the tunnels and routes of nodes that have not announced themselves yet', () => {
    const store = new MemoryStore();
    return keepTunnels({ connect: () => store, wipe: async () => store.wipe() });
  });
});
