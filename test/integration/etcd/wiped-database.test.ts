import { describe, it } from 'node:test';
import { keepTunnels } from '#test/cmd/agent/wiped-database.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import { EtcdServer } from '../support/etcd-server.ts';

const limits = { skip: withoutEtcd(), timeout: 120_000 };

describe('agents whose etcd is wiped and written again', limits, () => {
  it('keep the tunnels and routes of nodes that have not announced themselves yet', async () => {
    const etcd = await EtcdServer.start();
    try {
      await keepTunnels({
        connect: () => etcd.store(),
        wipe: async () => {
          await etcd.wipe();
          await etcd.run();
        },
      });
    } finally {
      await etcd.close();
    }
  });
});
